"""Names of the eight stages, which are the folders of their tables, in the order of the pipeline."""

from __future__ import annotations

from typing import Final

SCRAPED: Final = "1_scraped"
NORMALIZED: Final = "2_normalized"
CURATED: Final = "3_curated"
GENERATED: Final = "4_generated"
CHECKED: Final = "5_checked"
AUDITED: Final = "6_audited"
REVIEWED: Final = "7_reviewed"
RELEASED: Final = "8_released"
STAGES: Final = (SCRAPED, NORMALIZED, CURATED, GENERATED, CHECKED, AUDITED, REVIEWED, RELEASED)
