"""Kinayat as published: its own wrong explanations, sentences and idioms, asked in English in both orders."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from mihakk.evaluation.adapters.adapter import ADAPTERS, Adapter, Facts, rows_with, tables_in
from mihakk.evaluation.questions import listed
from mihakk.machinery.configs import load_config
from mihakk.schemas.record import Record

LABELS: Final = ("A", "B", "C")
CONNOTATIONS: Final = ("Positive", "Negative", "Neutral")
MAPPING: Final = "columns.yaml"


class Columns(Record):
    """`columns.yaml` beside the tables: what they call each field. Fields but the first two may be absent."""

    idiom: str = "idiom"
    explanation: str = "explanation"
    wrong_explanation: str = "incorrect_explanation"
    """Written by a model that saw the right one."""
    wrong_role: str = "incorrect_explanation_srl"
    """The right one with one semantic role changed."""
    sentence: str = "sentence"
    blank: str = "sentence_with_blank"
    wrong_idiom: str = "incorrect_idiom"
    connotation: str = "connotation"
    kind: str = "kind"
    """`idiom` or `proverb`, as the prompt shall call it; `idiom` where the column is absent."""
    dialect: str = "dialect"
    """Country or dialect, for tables by dialect."""
    language: str = "language"
    """`en` of English proverbs; `ar` where the column is absent."""


class _Choice(NamedTuple):
    """A question of two options: what is shown above them, and which fields it is made of."""

    task: str
    asks: str
    shown: str
    right: str
    wrong: str
    kind: str
    """Of the wrong option."""


_LABEL_ALONE: Final = "Answer with its letter alone."
_MEANING: Final = "Which of the two explains the {kind}?"
_CHOICES: Final = (
    _Choice("meaning_choice", _MEANING, "{idiom}", "explanation", "wrong_explanation", "general"),
    _Choice("meaning_choice_srl", _MEANING, "{idiom}", "explanation", "wrong_role", "role"),
    _Choice(
        "negation",
        "Which of the two does not explain the {kind}?",
        "{idiom}",
        "wrong_explanation",
        "explanation",
        "true_explanation",
    ),
    _Choice(
        "meaning_in_context",
        "Which of the two explains the {kind} as the sentence uses it?",
        "{idiom}\nSentence: {sentence}",
        "explanation",
        "wrong_explanation",
        "general",
    ),
    _Choice(
        "pragmatic_use",
        "Which {kind} belongs in the blank?",
        "{blank}",
        "idiom",
        "wrong_idiom",
        "other_idiom",
    ),
)
_CONNOTATION: Final = (
    "Is the connotation of this {kind} positive (praise, hope, a good outcome), negative (blame, warning, a "
    "bad one) or neutral (neither)? Answer with the letter alone."
)
_EXPLAIN: Final = "Say in {spoken}, briefly, what this {kind} means. Write the explanation and nothing else."
_COMPLETE: Final = "Which word ends this {kind}? Write that word alone."


def _rows(folder: Path) -> Iterator[tuple[str, tuple[str, dict[str, str]]]]:
    """Idioms or proverbs with their explanations, by our names of the fields, each behind the item's name.

    The paper names these fields, not their columns: its data set has not been seen, so `columns.yaml` says
    how the tables call them. Prompts are ours, after the paper's figures 5, 6, 9 to 11, 14 and 15.
    """
    mapping = folder / MAPPING
    columns = load_config(mapping, Columns) if mapping.is_file() else Columns()
    for path in tables_in(folder):
        rows = rows_with(path, (columns.idiom, columns.explanation))
        for number, (where, row) in enumerate(rows, 1):
            fields = {
                name: str(row.get(column) or "").strip() for name, column in columns.model_dump().items()
            }
            known = {"kind": fields["kind"].lower() or "idiom", "language": fields["language"] or "ar"}
            yield where, (f"{path.stem}-{number}", fields | known)


def _ask(row: tuple[str, dict[str, str]]) -> Iterator[Facts]:
    """A question for each task whose fields the row has."""
    name, fields = row
    if not fields["idiom"] or not fields["explanation"]:
        raise ValueError("an idiom without its explanation")
    for choice in _CHOICES:
        if fields[choice.right] and fields[choice.wrong] and all(_needed(fields, choice.shown)):
            options = [(fields[choice.right], "right"), (fields[choice.wrong], choice.kind)]
            asked = f"{choice.asks} {_LABEL_ALONE}".format(**fields)
            for order in (0, 1):
                ordered = options[::-1] if order else options
                shown, more = _choice(choice.shown.format(**fields), ordered)
                more |= {"order": order, "pair_id": f"kinayat-{choice.task}-{name}"}
                more["item"] = f"kinayat-{choice.task}-{name}-{order}"
                more["fields"] = _places(fields) | {
                    f"option {number}": text for number, (text, _) in enumerate(ordered, 1)
                }
                yield _facts(choice.task, name, fields, f"{asked}\n\n{shown}", more)
    if fields["connotation"]:
        gold = fields["connotation"].capitalize()
        if gold not in CONNOTATIONS:
            raise ValueError(f"the connotation {gold!r} is none of {', '.join(CONNOTATIONS)}")
        options = [(one, "right" if one == gold else "other_label") for one in CONNOTATIONS]
        asked = _CONNOTATION.format(**fields)
        for what in ("idiom", "explanation"):
            shown, more = _choice(fields[what], options)
            more["item"] = f"kinayat-connotation-{name}-{what}"
            more["fields"] = _places(fields) | dict.fromkeys(
                ("proverb or explanation", "idiom or explanation"), fields[what]
            )
            yield _facts("connotation", name, fields, f"{asked}\n\n{shown}", more)
    spoken = "English" if fields["language"] == "en" else "Arabic"
    asked = f"{_EXPLAIN.format(spoken=spoken, **fields)}\n\n{fields['idiom']}\n"
    more = {"kind": "answer", "answer": fields["explanation"], "fields": _places(fields)}
    yield _facts("explanation", name, fields, asked, more)
    *rest, last = fields["idiom"].rstrip(" .،؛!؟").split()
    if fields["kind"] == "proverb" and rest:
        asked = f"{_COMPLETE.format(**fields)}\n\n{' '.join(rest)} …\n"
        places = _places(fields) | {"incomplete proverb": " ".join(rest)}
        yield _facts("completion", name, fields, asked, {"kind": "answer", "answer": last, "fields": places})


def _places(fields: dict[str, str]) -> dict[str, str]:
    """What the paper's prompts have places for, by their names there."""
    named = {"sentence": fields["sentence"], "sentence with blank": fields["blank"]}
    return {"kind": fields["kind"], **dict.fromkeys(("proverb", "idiom"), fields["idiom"]), **named}


def _needed(fields: dict[str, str], shown: str) -> Iterator[bool]:
    return (bool(value) for name, value in fields.items() if f"{{{name}}}" in shown)


def _choice(shown: str, options: Sequence[tuple[str, str]]) -> tuple[str, Facts]:
    """What is shown below the request, and what is right of it; options with their kinds."""
    labels = LABELS[: len(options)]
    texts, kinds = ([one[place] for one in options] for place in (0, 1))
    more = {
        "kind": "choice",
        "options": texts,
        "labels": labels,
        "gold": [kinds.index("right")],
        "option_kinds": kinds,
    }
    return f"{shown}\n\n{listed(labels, texts, '.')}\n\nAnswer:", more


def _facts(task: str, name: str, fields: dict[str, str], prompt: str, more: Facts) -> Facts:
    language = fields["language"]
    facts = {
        "item": f"kinayat-{task}-{name}",
        "group": f"kinayat-{name}",
        "config": f"{language}_{task}",
        **more,
    }
    slices = {"record": name, "kind": fields["kind"], "dialect": fields["dialect"]}
    facts["slices"] = {name: value for name, value in slices.items() if value}
    content = [prompt, {name: value for name, value in more.items() if name != "fields"}]
    return {"shown": prompt, "content": content, "task": task, "language": language, **facts}


_PUBLISHED: Final = {
    **dict.fromkeys(
        ("meaning_choice", "meaning_choice_srl"),
        "4fac3b63bb888354020614c27e633693883f28032d0d5af1a4c878b5c036b32f",
    ),
    "meaning_in_context": "8ea541a333dfe69c32f4c1ebd3cdfedcc3e6ba32e57e64cd56fe5e20f8a8a4ba",
    "completion": "100d50b2d2a79672337363c13e53ed0c14b99a8b0c366fbf4e77fb8cae6ebbb3",
    "negation": "8777aa0ee5ec187ca6b70e2df85ffa8317a6ea5797aa3ee32094d7023a559994",
    "explanation": "f7ab746a8decfa51cc6b3d0522ada7c02bf3c69e77b9a386f77f06d0bff68382",
    "pragmatic_use": "e1b6a79de7d74b74566473ed8523043dda4092b1a8c9c21cce8842de7261acbe",
    "connotation": "9db758e3550cbcb30e36460b94b36ed51b14a856abba9d919049bdeafe709869",
}
"""Digests of the paper's figures 5, 6, 9, 10, 11, 14 and 15."""
ADAPTERS.add("kinayat", Adapter("Kinayat", tables_in, _rows, _ask, "kinayat", published=_PUBLISHED))
