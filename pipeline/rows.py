"""Models of the rows of every stage table."""

from __future__ import annotations

from typing import Any


def rows_of(table: str) -> Any:
    """Models of the rows of a table."""
    from schemas.audit import Audit, Verdict
    from schemas.finding import Finding
    from schemas.idiom import Idiom
    from schemas.item import ITEM_ROWS
    from schemas.poem import Poem
    from schemas.published import Published
    from schemas.rejection import Cluster, Rejection
    from schemas.review import Resolution

    models: dict[str, Any] = {
        "items": ITEM_ROWS,
        "poems": Poem,
        "idioms": Idiom,
        "removed": Rejection,
        "clusters": Cluster,
        "findings": Finding,
        "audits": Audit,
        "verdicts": Verdict,
        "resolutions": Resolution,
        "release": Published,
    }
    return models[table]
