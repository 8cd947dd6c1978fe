"""The child process that serves one GGUF file: `python -m mihakk.machinery.llm.llamacpp SETTINGS PARENT`.

It dies with its parent, even when that is killed: its standard input is a pipe that only the parent holds
open, and, in case a fork of the parent holds it too, it watches its parent's process id.
"""

from __future__ import annotations

import json
import os
import select
import sys
from typing import Any


def serve(settings: dict[str, Any], parent: int) -> None:
    """Serves until the parent is gone."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["path"]
    params.model_alias = {settings["model"]}
    params.n_parallel = settings["slots"]
    params.n_ctx = settings["context"] * settings["slots"]
    params.hostnames = ["127.0.0.1"]
    params.port = settings["port"]
    params.verbosity = 1
    params.endpoint_slots = False
    params.cache_ram_mib = 0
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = settings["threads"]
    # Replies repeat the example in the prompt almost word for word: guessing from it halves decoding time,
    # and a guess counts only if the model itself would have written it.
    params.speculative.types = [xllamacpp.common_speculative_type.COMMON_SPECULATIVE_TYPE_NGRAM_SIMPLE]
    params.speculative.ngram_simple.size_n = 4
    params.speculative.ngram_simple.size_m = 16
    try:
        server = xllamacpp.Server(params)  # noqa: F841 - it serves for as long as it lives
    except RuntimeError as error:
        sys.exit(str(error))  # its own log, above this line, says why
    while os.getppid() == parent:
        readable, _, _ = select.select([sys.stdin], [], [], 1.0)
        if readable and not os.read(sys.stdin.fileno(), 1):
            break
    # The native server's destructor may wait for a running generation: nothing here is worth waiting for.
    os._exit(0)


if __name__ == "__main__":
    serve(json.loads(sys.argv[1]), int(sys.argv[2]))
