"""One annotation read: checked against its config, then turned into a decision or labels."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, get_args

from pydantic import BaseModel, TypeAdapter, ValidationError

from mihakk.annotation.label_studio.exported import Answer
from mihakk.annotation.screens.corrections import read_form
from mihakk.annotation.screens.labelling import Labelling
from mihakk.annotation.screens.ratings import DEPTH_PARTS, Label, own_answer, plausibility
from mihakk.annotation.screens.tasks import OWN_ANSWER, TEMPLATE, untouched
from mihakk.machinery.errors import RecordRejected
from mihakk.schemas.audit import CRITERIA
from mihakk.schemas.review import CALLED_WRONG, Decision, Review

Values = dict[str, list[str]]
"""Control name to what was chosen or typed in it."""


class _Value(BaseModel):
    choices: list[str] | str | None = None
    text: list[str] | str | None = None
    rating: int | None = None


class _Region(BaseModel):
    from_name: str
    value: _Value


_REGIONS = TypeAdapter(list[_Region])


class Reader:
    """Reads the annotations of one template."""

    def __init__(self, labelling: Labelling) -> None:
        from label_studio_sdk.label_interface import LabelInterface

        self._interface = LabelInterface(labelling.config)
        self._template = labelling.name
        self._required = {
            control.name
            for control in self._interface.controls
            if control.attr.get("required") == "true" and control.name != "reason"
        }

    def read(self, answer: Answer, annotator: str) -> list[Review] | list[Label]:
        """The decision, or the labels, in one annotation.

        Raises:
            RecordRejected: `task_edited`, `invalid_annotation` or `incomplete`.
        """
        values = self.values(answer)
        try:
            if self._template == TEMPLATE:
                return [_review(answer, annotator, values)]
            return _labels(answer, annotator, values, self._template)
        except (LookupError, ValueError) as error:  # of pydantic too: a value that no control gives
            raise RecordRejected("invalid_annotation", f"{type(error).__name__}: {error}"[:300]) from error

    def values(self, answer: Answer) -> Values:
        """What was chosen or typed in each control.

        `RecordRejected` with `task_edited`, `invalid_annotation` or `incomplete` where it can't be used.
        """
        if not untouched(answer.data):
            raise RecordRejected("task_edited", f"task {answer.task.id} is not as it was pushed")
        values = values_of(answer.row.result)
        try:
            problems = self._interface.validate_prediction({"result": answer.row.result}, return_errors=True)
        except Exception as error:  # the SDK raises whatever it comes across
            problems = [f"{type(error).__name__}: {error}"]
        if problems:
            raise RecordRejected("invalid_annotation", str(problems[0])[:300])
        rated = (
            {"correct", "tempting"} if "plausibility" in values else set()
        )  # before there were two questions
        if missing := sorted(self._required - set(values) - rated):
            raise RecordRejected("incomplete", f"nothing was chosen for {', '.join(missing)}")
        if self._template == OWN_ANSWER:
            _check_own(answer.data, own_answer({name: "\n".join(said) for name, said in values.items()}))
        return values


def _check_own(data: Mapping[str, Any], answered: str) -> None:
    if not answered:
        raise RecordRejected("incomplete", "nothing was answered")
    if answered.isdecimal() and f" o{answered}" not in data["item_html"].partition(">")[0]:
        raise RecordRejected("no_such_option", f"option {answered} was chosen, which is not on the screen")


def values_of(result: Any) -> Values:
    """What the regions of an annotation say; `RecordRejected` (`invalid_annotation`) where they are none."""
    try:
        regions = _REGIONS.validate_python(result)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise RecordRejected("invalid_annotation", f"{place}: {first['msg']}"[:300]) from error
    values: Values = {}
    for region in regions:
        name = region.from_name
        if name in values:
            raise RecordRejected("invalid_annotation", f"{name} is given twice")
        chosen = region.value.choices or region.value.text or region.value.rating
        if chosen:
            values[region.from_name] = [
                str(one) for one in (chosen if isinstance(chosen, list) else [chosen])
            ]
    return values


def may_object(result: Any) -> bool:
    """Whether what an annotation holds may call its item wrong, readable or not.

    It does not where it says nothing, or keeps the item and ticks nothing that calls it wrong.
    """
    try:
        values = values_of(result)
    except RecordRejected:
        return True
    harmless = set(CRITERIA).difference(CALLED_WRONG)
    unsaid = [] if "reason" in values else ["keep"]
    return values.get("decision", unsaid) != ["keep"] or not harmless.issuperset(values.get("failed", ()))


def _review(answer: Answer, annotator: str, values: Values) -> Review:
    decision = _one(values, "decision")
    if decision not in get_args(Decision):
        raise RecordRejected("invalid_annotation", f"no such decision: {decision!r}")
    reason = _one(values, "reason") if decision == "discard" else ""
    corrections = {}
    if decision == "fix":
        # Whoever wants it fixed calls it wrong, even where nothing was changed or the change can't be read.
        with suppress(RecordRejected):
            corrections = _corrections(answer.data, values)
    failed = set(values.get("failed", ()))
    return Review.model_validate(
        {
            "item": answer.data["sample_id"],
            "content_hash": answer.data["content_hash"],
            "annotator": annotator,
            "decision": decision,
            "reason": reason or None,
            "failed": tuple(name for name in CRITERIA if name in failed),
            "corrections": corrections,
            "confidence": int(_one(values, "confidence") or 0) or None,
            "notes": "\n".join(values.get("notes", ())).strip(),
            "decided_at": answer.row.updated_at,
            "created_at": answer.row.created_at,
            "seconds": answer.row.lead_time,
            "project": TEMPLATE,
            "task": answer.task.id,
            "opened": tuple(values.get("opened", ())),
            "annotation": answer.origin,
        }
    )


def _corrections(data: Mapping[str, Any], values: Values) -> dict[str, str]:
    form: dict[str, str] = data["form"]
    # A box the item has no use for is hidden; what stands in it was never seen.
    typed = {name: "\n".join(values[name]) for name in form if name in values}
    corrections = read_form(form, typed)
    gold = values.get("fix_gold", [])
    if gold:
        shown = [index for index in gold if f"fix_option_{index}" in form]
        if shown != gold:
            raise RecordRejected("bad_gold", f"the right option is given as {', '.join(gold)}")
        corrections["gold"] = ",".join(sorted(gold, key=int))
    return corrections


def _labels(answer: Answer, annotator: str, values: Values, template: str) -> list[Label]:
    texts = texts_of(values, template)
    return [
        Label(
            subject=answer.data["sample_id"],
            content_hash=answer.data["content_hash"],
            annotator=annotator,
            template=template,
            name=name,
            value=text,
            decided_at=answer.row.updated_at,
            created_at=answer.row.created_at,
            seconds=answer.row.lead_time,
            task=answer.task.id,
            annotation=answer.origin,
        )
        for name, text in sorted(texts.items())
    ]


def texts_of(values: Values, template: str) -> dict[str, str]:
    """One text for each control, the sum of the parts of depth, and the rating of a distractor."""
    texts = {name: ",".join(chosen) for name, chosen in values.items() if name not in ("opened", "skip")}
    if template == "interpretive_depth":
        texts["depth"] = str(sum(int(texts[part]) for part in DEPTH_PARTS))
    if template == "distractor_rating" and "plausibility" not in texts:
        texts["plausibility"] = plausibility(texts["correct"], texts["tempting"])
    return texts


def _one(values: Values, name: str) -> str:
    chosen = values.get(name, [""])
    if len(chosen) != 1:
        raise RecordRejected("invalid_annotation", f"{name} has {len(chosen)} values")
    return chosen[0]
