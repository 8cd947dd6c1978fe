"""Applies what people settled about records: labels, texts, connotations and sentences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from mihakk.curation.normalization import reject, remove
from mihakk.machinery.errors import RecordRejected
from mihakk.machinery.text import canonicalize, key
from mihakk.schemas.campaign import Amendment
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Couplet, Poem
from mihakk.schemas.record import Form, Language
from mihakk.schemas.rejection import Rejection

_LABELS = ("poet", "era", "genre", "metre")
_HOPELESS = "hopeless "
HOPELESS = "hopeless_text"
"""Reason of texts that people say nobody can restore."""


class Amended(NamedTuple):
    """Records as people's answers leave them."""

    records: list[Poem | Idiom]
    removed: list[Rejection]
    """Couplets that nobody can restore."""
    rejections: list[Rejection]
    """Records of which nothing is left without such a text."""
    notes: dict[str, int]
    """`amended.<field>` to how many changes were made."""


def amend(records: Iterable[Poem | Idiom], amendments: Sequence[Amendment]) -> Amended:
    """The records with every amendment made whose text still is what people saw.

    What the source or an editor said of a poem stays in `source_labels`.
    """
    by_record: dict[str, list[Amendment]] = {}
    for amendment in amendments:
        by_record.setdefault(amendment.record, []).append(amendment)
    notes: dict[str, int] = {}
    out = Amended([], [], [], notes)
    for record in records:
        try:
            out.records.append(_amended(record, by_record, out))
        except RecordRejected as error:
            out.rejections.append(reject(record, error))
    return out


def _amended(
    record: Poem | Idiom, by_record: Mapping[str, Sequence[Amendment]], out: Amended
) -> Poem | Idiom:
    if isinstance(record, Idiom):
        idiom = record
        for amendment in by_record.get(record.id, ()):
            before, idiom = idiom, _amended_idiom(idiom, amendment)
            _note(out, amendment, changed=idiom is not before)
        return idiom
    poem = record
    for amendment in by_record.get(poem.id, ()):
        earlier, poem = poem, _relabelled(poem, amendment)
        _note(out, amendment, changed=poem is not earlier)
    if not any(couplet.id in by_record for couplet in poem.couplets):
        return poem
    couplets = [_amended_couplet(one, poem, by_record.get(one.id, ()), out) for one in poem.couplets]
    if not any(couplets):
        raise RecordRejected(HOPELESS, "people say that none of its text can be restored")
    return poem.model_copy(update={"couplets": tuple(filter(None, couplets))})


def _note(out: Amended, amendment: Amendment, *, changed: bool) -> None:
    name = f"amended.{amendment.field.removeprefix(_HOPELESS)}"
    out.notes[name] = out.notes.get(name, 0) + changed


def _relabelled(poem: Poem, amendment: Amendment) -> Poem:
    field, after = amendment.field, amendment.after
    if field not in _LABELS or _label(poem, field) != amendment.before:
        return poem
    labels = dict(poem.source_labels)
    labels.setdefault(field, amendment.before)
    labels[f"{field}_by"] = f"people: {amendment.reason}"
    labels.pop(f"{field}_from", None)
    change: dict[str, object] = {field: after}
    if field == "metre":
        change = {"sections": tuple(one.model_copy(update={"metre": after}) for one in poem.sections)}
    return poem.model_copy(update={**change, "source_labels": labels})


def _label(poem: Poem, name: str) -> str:
    """A label as people were shown it: several metres in one line."""
    if name == "metre":
        return " · ".join(sorted({section.metre for section in poem.sections}))
    return str(getattr(poem, name))


def _amended_couplet(
    couplet: Couplet, poem: Poem, amendments: Iterable[Amendment], out: Amended
) -> Couplet | None:
    """The couplet with its restored texts; None where nobody can restore one of them."""
    for amendment in amendments:
        name = amendment.field.removeprefix(_HOPELESS)
        half: Form | None = getattr(couplet, name)
        same = half is not None and half.shown == amendment.before
        _note(out, amendment, changed=same)
        if half is None or not same:
            continue
        if name != amendment.field:
            out.removed.append(remove(couplet, poem, HOPELESS, f"{name}, people: {amendment.reason}"))
            return None
        couplet = couplet.model_copy(update={name: _form(half, amendment.after, poem.language)})
    return couplet


def _amended_idiom(idiom: Idiom, amendment: Amendment) -> Idiom:
    field, after = amendment.field, amendment.after
    labels = dict(idiom.source_labels)
    if field == "sentence":
        labels |= {"sentence": amendment.reason, **{f"sentence_{k}": v for k, v in amendment.facts.items()}}
        return idiom.model_copy(update={"examples": (after, *idiom.examples), "source_labels": labels})
    if field == "connotation":
        if (idiom.connotation or "") != amendment.before:
            return idiom
        labels |= {"connotation_votes": amendment.reason}
        return idiom.model_copy(update={"connotation": after or None, "source_labels": labels})
    if field == "explanation_connotation":
        labels |= {"explanation_connotation": after, "explanation_connotation_votes": amendment.reason}
        return idiom.model_copy(update={"source_labels": labels})
    name = field.removeprefix(_HOPELESS)
    if name not in ("phrase", "explanation"):
        return idiom
    form: Form = getattr(idiom, name)
    if form.shown != amendment.before:
        return idiom
    if name != field:
        raise RecordRejected(HOPELESS, f"{name}, people: {amendment.reason}")
    return idiom.model_copy(update={name: _form(form, after, idiom.language)})


def _form(form: Form, text: str, language: Language) -> Form:
    """The form with another text; what the source gave stays in `raw`."""
    shown = canonicalize(text, language).text
    return form.model_copy(update={"text": shown, "key": key(shown, language)})
