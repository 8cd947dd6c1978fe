"""Reports that libraries and servers send to their makers: off in this process and in all that it starts."""

from __future__ import annotations

import os
from typing import Final

NO_TELEMETRY: Final = {
    "DO_NOT_TRACK": "1",  # Prefect, huggingface_hub, vLLM
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "GX_ANALYTICS_ENABLED": "false",  # releases before 1.24; later ones send nothing
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_UPDATE_CHECK": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "COLLECT_ANALYTICS": "false",  # this and the next: Label Studio
    "LATEST_VERSION_CHECK": "false",
}

# Libraries read them when they are imported: `mihakk/__init__.py` imports this before any of those.
os.environ.update(NO_TELEMETRY)
