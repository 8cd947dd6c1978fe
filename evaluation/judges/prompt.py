"""What a judge is asked: the rubric in the item's language first, the quoted material last."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any, Final

import orjson

from mihakk.evaluation.running.asking import Asked
from mihakk.machinery.configs import load_yaml
from mihakk.machinery.llm.structured import Message, closed_object
from mihakk.machinery.text.key import key
from mihakk.schemas.record import Language
from mihakk.schemas.rubric import PublishedRubric, Rubric, Sees

LONGEST_REASON: Final = 600
"""Characters."""


@cache
def instructions() -> dict[str, Any]:
    """What every judge is told, by language; `version` among it."""
    found: dict[str, Any] = load_yaml(Path(__file__).parent / "instructions.yaml", own=True)
    return found


def order_of(rubric: Rubric, presentation: int) -> list[str]:
    """The criteria in the order of a presentation: rotated by its number; reversed in the second half."""
    names = list(rubric.fields)
    turn = presentation % len(names)
    turned = names[turn:] + names[:turn]
    return turned if presentation < len(names) else turned[::-1]


def material(rubric: Rubric, asked: Asked, reply: str, *, reply_first: bool = False) -> dict[str, Any]:
    """What the judge is shown, part by part; `reply_first` turns their order around.

    Of a question about a part of a poem, as a couplet in prose, the whole poem stands first.
    """
    question = asked.question
    if question.kind == "explanation":
        reference: Any = [*question.explanations, *filter(None, [question.overall])]
    else:
        reference = [question.answer, *question.accepted]
    parts = {"question": asked.prompt, "text": list(question.verses), "reference": reference, "reply": reply}
    whole: tuple[Sees, ...] = ("text",) if question.kind == "answer" and question.verses else ()
    sees = (*whole, *rubric.sees)
    names = sees[::-1] if reply_first else sees
    return {name: parts[name] for name in names}


def judging_messages(
    rubric: Rubric, language: Language, order: list[str], shown: dict[str, Any]
) -> list[Message]:
    """The conversation that asks for scores.

    The material is one line of JSON: line breaks and quotes in it are escaped, so no reply can end the
    material and speak in the place of the instructions.
    """
    if rubric.prompt and rubric.published:
        return _in_authors_words(rubric.prompt, rubric.published, shown)
    told = instructions()[language]
    lines = [told["role"], ""]
    for name in order:
        one = rubric.fields[name]
        scale = told["scale"].format(low=one.low, high=one.high)
        lines.append(f"{name} ({scale}): {one.says[language]}")
        lines += [f"  {score}: {by[language]}" for score, by in sorted(one.anchors.items())]
    lines += ["", told["form"].format(fields=", ".join(order))]
    return _conversation("\n".join(lines), shown)


def extraction_messages(language: Language, question: str, reply: str) -> list[Message]:
    """The conversation that asks which words of a reply are its answer."""
    return _conversation(instructions()[language]["extract"], {"question": question, "reply": reply})


def judging_schema(rubric: Rubric, order: list[str]) -> dict[str, Any] | None:
    """JSON Schema of a judgement: the reason first, then the scores in the order shown.

    In the authors' words it is theirs: None where they ask for a number alone.
    """
    scores: dict[str, Any] = {
        name: {"type": "integer", "enum": list(range(rubric.fields[name].low, rubric.fields[name].high + 1))}
        for name in order
    }
    if rubric.prompt and (theirs := rubric.published):
        if "" in theirs.scores.values():
            return None
        keys = {theirs.scores[name]: scores[name] for name in rubric.fields}
        return closed_object(keys | ({theirs.reason: {"type": "string"}} if theirs.reason else {}))
    return closed_object(
        {"reason": {"type": "string", "maxLength": LONGEST_REASON}, "scores": closed_object(scores)}
    )


def extraction_schema() -> dict[str, Any]:
    """JSON Schema of an extraction."""
    return closed_object({"extracted": {"type": "string"}})


def judged(rubric: Rubric, value: Any) -> tuple[dict[str, int], str]:
    """Scores and reason of a reply, an object or a number alone.

    Raises:
        ValueError: Anything is missing, more than asked for, or outside the scale.
    """
    if rubric.prompt and rubric.published:
        value = _in_our_names(rubric.published, value)
    if set(value) != {"reason", "scores"} or not isinstance(value["scores"], dict):
        raise ValueError('it must have the keys "reason" and "scores" and no other')
    if not isinstance(value["reason"], str) or not value["reason"].strip():
        raise ValueError('"reason" must be one sentence')
    scores = value["scores"]
    if set(scores) != set(rubric.fields):
        raise ValueError(f'"scores" must hold {", ".join(rubric.fields)} and nothing else')
    for name, score in scores.items():
        one = rubric.fields[name]
        if type(score) is not int or not one.low <= score <= one.high:
            raise ValueError(f"{name} must be a whole number from {one.low} to {one.high}")
    return {name: scores[name] for name in rubric.fields}, value["reason"].strip()


def _in_our_names(theirs: PublishedRubric, value: Any) -> dict[str, Any]:
    """A reply in the authors' form, as one in ours."""
    if isinstance(value, str):
        number = value.strip().strip("*.")
        value = {"": int(number)} if number.isascii() and number.isdecimal() else {}
    names = {key: name for name, key in theirs.scores.items()}
    asked = not theirs.reason or value.get(theirs.reason, "")
    scores = {
        names.get(key, key): one for key, one in value.items() if not theirs.reason or key != theirs.reason
    }
    return {"scores": scores, "reason": "none was asked for" if asked is True else asked}


def extracted(reply: str, language: Language, value: dict[str, Any]) -> str:
    """The words that a judge took out of a reply.

    Raises:
        ValueError: They don't stand in it.
    """
    if set(value) != {"extracted"} or not isinstance(value["extracted"], str):
        raise ValueError('it must have the key "extracted" and no other')
    words = value["extracted"].strip()
    if key(words, language) not in key(reply, language):
        raise ValueError("the extracted words don't stand in the reply: copy them as they are")
    return words


def _in_authors_words(prompt: str, theirs: PublishedRubric, shown: dict[str, Any]) -> list[Message]:
    """The authors' prompt with the material in their form."""
    named = {
        theirs.parts[part]: "\n".join(value) if isinstance(value, list) else value
        for part, value in shown.items()
        if part in theirs.parts
    }
    if theirs.form == "json":
        parts = {theirs.parts[part]: value for part, value in shown.items() if part in theirs.parts}
        return _conversation(prompt, parts)
    if theirs.form == "tags":
        tagged = "".join(f"\n\n[{name}]\n{text}\n[/{name}]" for name, text in named.items())
        return [{"role": "user", "content": prompt + tagged}]
    text = prompt.replace("\\_", "_").replace("*", "")
    filled = re.sub(r"\{(\w+)\}", lambda place: named.get(place[1], place[0]), text)
    return [{"role": "user", "content": filled}]


def _conversation(system: str, shown: dict[str, Any]) -> list[Message]:
    return [
        {"role": "system", "content": system},
        {"role": "user", "content": orjson.dumps(shown).decode()},
    ]
