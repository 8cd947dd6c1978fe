"""Whether a record can become items, and what it looks like once its non-poetic matter is gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import NamedTuple

from mihakk.curation.apparatus import without_apparatus
from mihakk.curation.matter import clean_poem
from mihakk.curation.metadata import match_metadata
from mihakk.curation.wording import sensitive_wording
from mihakk.errors import RecordRejected
from mihakk.text import key
from schemas.benchmark import CurateConfig
from schemas.idiom import Idiom
from schemas.poem import Poem
from schemas.rejection import Rejection


class Fit(NamedTuple):
    """A record as curation leaves it, duplicates aside."""

    record: Poem | Idiom
    removed: list[Rejection]
    """Couplets taken out, each with its reason."""
    notes: Mapping[str, int]
    """What was counted: `cleaned.<kind>`, `explanation.<kind>`, `metadata.<kind>`, `declared.differs`."""


def fit(record: Poem | Idiom, config: CurateConfig) -> Fit:
    """A record fit for items.

    Raises:
        RecordRejected: By `match_metadata` or `clean_poem`; of an idiom `sensitive`, `cross_reference` or
            `no_explanation`.
    """
    if isinstance(record, Idiom):
        return _idiom(record, config)
    matched = match_metadata(record, config)
    notes = {"metadata.era_of_another_time": 1} if "era_of_poet" in matched.source_labels else {}
    cleaned = clean_poem(matched)
    return Fit(cleaned.poem, cleaned.removed, {**notes, **cleaned.notes})


def _idiom(idiom: Idiom, config: CurateConfig) -> Fit:
    idiom = _marked(idiom)
    if idiom.sensitive and config.sensitive == "leave_out":
        why = idiom.source_labels.get("sensitive_wording", "marked by the source")
        raise RecordRejected("sensitive", f"offensive or sensitive ({why}); left out by the config")
    if not idiom.explanation.key:
        raise RecordRejected("no_explanation", "the entry explains nothing")
    text, cut = without_apparatus(idiom.explanation.text)
    if not text:
        raise RecordRejected("cross_reference", f"the entry only refers: {idiom.explanation.text[:120]!r}")
    if not cut:
        return Fit(idiom, [], {})
    shorter = idiom.explanation.model_copy(update={"text": text, "key": key(text, idiom.language)})
    notes = Counter({f"explanation.{kind}": count for kind, count in cut.items()})
    return Fit(idiom.model_copy(update={"explanation": shorter}), [], notes)


def _marked(idiom: Idiom) -> Idiom:
    """The idiom marked sensitive where a listed word stands in it; the label says which."""
    texts = (idiom.phrase.text, idiom.explanation.text)
    found = next((word for text in texts if (word := sensitive_wording(text, idiom.language))), "")
    if not found:
        return idiom
    labels = idiom.source_labels | {"sensitive_wording": found}
    return idiom.model_copy(update={"sensitive": True, "source_labels": labels})
