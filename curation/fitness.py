"""Whether a record can become items, and what it looks like once its non-poetic matter is gone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from mihakk.curation.apparatus import without_apparatus
from mihakk.curation.matter import clean_poem
from mihakk.curation.metadata import match_metadata
from mihakk.machinery.errors import RecordRejected
from mihakk.machinery.languages import pack
from mihakk.machinery.text import key, words_key
from mihakk.machinery.text.references import content, only_refers
from mihakk.machinery.text.script import own_share
from mihakk.schemas.benchmark import CurateConfig
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Poem
from mihakk.schemas.record import Language
from mihakk.schemas.rejection import Rejection

"""What Arabic writes as one with a word."""
_SHORT = 3
"""Letters up to which a word takes no single preposition: `بخرا` (foul breath) is not `ب` and `خرا`."""


class Fit(NamedTuple):
    """A record as curation leaves it, duplicates aside."""

    record: Poem | Idiom
    removed: list[Rejection]
    """Couplets taken out, each with its reason."""
    notes: Mapping[str, int]
    """What was counted: `cleaned.<kind>`, `explanation.<kind>`, `metadata.<kind>`, `declared.differs`."""


def fit(record: Poem | Idiom, config: CurateConfig, *, contradicted: bool = True) -> Fit:
    """A record fit for items; `contradicted` as in `match_metadata`.

    Raises:
        RecordRejected: By `match_metadata` or `clean_poem`; of an idiom `sensitive`, `language_differs`,
            `cross_reference`, `no_explanation` or `meaning_not_stated`.
    """
    if isinstance(record, Idiom):
        return _idiom(record, config)
    matched = match_metadata(record, config, contradicted=contradicted)
    counted = {"era_of_poet": "era_of_another_time", "metre_by_scansion": "metre_scans_otherwise"}
    notes = {f"metadata.{note}": 1 for label, note in counted.items() if label in matched.source_labels}
    cleaned = clean_poem(matched)
    return Fit(cleaned.poem, cleaned.removed, {**notes, **cleaned.notes})


def _idiom(idiom: Idiom, config: CurateConfig) -> Fit:
    idiom = _marked(idiom)
    if idiom.sensitive and config.sensitive == "leave_out":
        raise RecordRejected("sensitive", "marked as sensitive by the source; left out by the config")
    if not own_share(idiom.phrase.text, idiom.language):
        raise RecordRejected(
            "language_differs", f"{idiom.phrase.text[:80]!r} is not in the script of {idiom.language!r}"
        )
    if not idiom.explanation.key:
        raise RecordRejected("no_explanation", "the entry explains nothing")
    whole = idiom.explanation.text
    text, cut, examples = without_apparatus(whole, idiom.phrase.text)
    if not text or only_refers(whole, idiom.language):
        raise RecordRejected("cross_reference", f"the entry only refers: {whole[:120]!r}")
    if not content(text, idiom.language):
        raise RecordRejected("meaning_not_stated", f"{text[:80]!r} is all that is left of {whole[:120]!r}")
    if not cut:
        return Fit(idiom, [], {})
    shorter = idiom.explanation.model_copy(update={"text": text, "key": key(text, idiom.language)})
    notes = Counter({f"explanation.{kind}": count for kind, count in cut.items()})
    changes = {"explanation": shorter, "examples": (*idiom.examples, *examples)}
    return Fit(idiom.model_copy(update=changes), [], notes)


def _marked(idiom: Idiom) -> Idiom:
    """The idiom with a label for the listed word that stands in it: in the phrase, else in what explains it.

    A word is no reason to reject: check SE01 sends the items to people, who see it in its sense.
    """
    for name, text in (("sensitive_wording", idiom.phrase.text), ("sensitive_gloss", idiom.explanation.text)):
        if found := _sensitive_wording(text, idiom.language):
            return idiom.model_copy(update={"source_labels": idiom.source_labels | {name: found}})
    return idiom


def _sensitive_wording(text: str, language: Language) -> str:
    """The first listed word or phrase found in a text as whole words; empty where there is none.

    A word that is somebody's name (`Laqit ibn Malik`) does not count.
    """
    folded = f" {words_key(text, language)} "
    for phrase in _phrases(language):
        for clitic in _clitics(phrase, pack(language).clitics):
            said = f" {clitic}{phrase} "
            if said in folded and f"{said}بن " not in folded and f" بن{said}" not in folded:
                return phrase
    return ""


def _clitics(phrase: str, clitics: tuple[str, ...]) -> tuple[str, ...]:
    return clitics if len(phrase) > _SHORT else tuple(one for one in clitics if one not in ("ب", "ل", "ك"))


@cache
def _phrases(language: Language) -> tuple[str, ...]:
    kinds = pack(language).sensitive
    return tuple(sorted({words_key(phrase, language) for phrases in kinds.values() for phrase in phrases}))
