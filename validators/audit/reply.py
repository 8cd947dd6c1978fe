"""What an auditor's reply must be, as a schema for the server and as a check of our own."""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

from mihakk.machinery.ids import digest
from mihakk.machinery.llm.structured import closed_object
from mihakk.schemas.audit import CASCADE, CRITERIA, Criterion, Issue
from mihakk.schemas.model import ReplyForm

LONGEST_EXPLANATION = 200
SHORT_EXPLANATION = 80
SHORT_ISSUES = 3
"""Most issues of a reply in the short form: small models that go on listing never end."""
SENTENCES = 2
CASCADED = "The text can't be read, so this can't be met."
"""Explanation given to a criterion that only the cascade sets to 0."""
_ABBREVIATION = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|no|al|[A-Za-z])\.", re.IGNORECASE)
_SENTENCE_END = re.compile(r"(?<![.!?؟۔])[.!?؟۔]++(?=\s|[\"'»”)]|$)")
_READABLE = re.compile(r"[A-Za-zÀ-ɏ\u0620-\u064a\u066e-\u06d3\u0750-\u077f]")
_LETTER = re.compile(r"[^\W\d_]")


@dataclass(frozen=True)
class Opinion:
    """A reply that passed."""

    scores: dict[Criterion, int]
    issues: tuple[Issue, ...]
    repaired: str = ""
    """What the cascade repaired; empty when nothing."""


@cache
def schema(form: ReplyForm = "scores") -> dict[str, Any]:
    """JSON Schema of a reply; the cascade and the match of issues with zeros are beyond what it can say."""
    names = list(CRITERIA)
    short = form == "issues"
    longest = SHORT_EXPLANATION if short else LONGEST_EXPLANATION
    # maxLength, not a pattern: vLLM's xgrammar crashes on a pattern that repeats 200 times.
    explanation = {"type": "string", "minLength": 3, "maxLength": longest}
    issue = closed_object({"criterion": {"type": "string", "enum": names}, "explanation": explanation})
    issues = {"type": "array", "maxItems": SHORT_ISSUES if short else len(names), "items": issue}
    scores = closed_object({name: {"type": "integer", "enum": [0, 1]} for name in names})
    return closed_object({"issues": issues} if short else {"scores": scores, "issues": issues})


@cache
def schema_digest(form: ReplyForm = "scores") -> str:
    """Digest of the schema, kept beside every reply."""
    return digest(schema(form))


def legal(scores: dict[Criterion, int]) -> bool:
    """The cascade holds: unreadable text meets none of the criteria that need reading."""
    return scores["text_readability"] == 1 or not any(scores[key] for key in CASCADE)


def opinion(value: dict[str, Any]) -> Opinion:
    """The opinion a parsed reply expresses.

    Raises:
        ValueError: What is wrong with the reply, worded for the model that wrote it.
    """
    if set(value) != {"scores", "issues"}:
        raise ValueError(f'the keys must be "scores" and "issues", not {_listed(value)}')
    scores = _scores(value["scores"])
    issues = _issues(value["issues"])
    zeros = {key for key in CRITERIA if scores[key] == 0}
    named = {issue.criterion for issue in issues}
    if len(named) < len(issues):
        raise ValueError("each criterion may have one issue only")
    repaired = ""
    allowed = zeros
    if not legal(scores):
        slipped = [key for key in CASCADE if scores[key] == 1]
        repaired = f"cascade: {', '.join(slipped)} set to 0"
        allowed = zeros | set(slipped)
        scores = {key: 0 if key in slipped else score for key, score in scores.items()}
    if missing := [key for key in CRITERIA if key in zeros - named]:
        raise ValueError(f"scored 0 without an issue: {', '.join(missing)}")
    if extra := [key for key in CRITERIA if key in named - allowed]:
        raise ValueError(f"an issue for what is scored 1: {', '.join(extra)}")
    by_key = {issue.criterion: issue for issue in issues}
    complete = tuple(
        by_key.get(key, Issue(criterion=key, explanation=CASCADED)) for key in CRITERIA if key in allowed
    )
    return Opinion(scores=scores, issues=complete, repaired=repaired)


def short_opinion(value: dict[str, Any]) -> Opinion:
    """The opinion of a reply that holds issues alone: what it names is 0, all else is 1.

    Raises:
        ValueError: What is wrong with the reply, worded for the model that wrote it.
    """
    if set(value) != {"issues"}:
        raise ValueError(f'the one key must be "issues", not {_listed(value)}')
    named = {issue.criterion for issue in _issues(value["issues"])}
    return opinion({"scores": {key: int(key not in named) for key in CRITERIA}, "issues": value["issues"]})


def _scores(value: Any) -> dict[Criterion, int]:
    if not isinstance(value, dict):
        raise ValueError('"scores" must be an object')
    if set(value) != set(CRITERIA):
        wrong = sorted(set(value) ^ set(CRITERIA))
        raise ValueError(f'"scores" must hold exactly the ten criteria; missing or unknown: {_listed(wrong)}')
    for key, score in value.items():
        # bool is an int in Python and 1.0 equals 1: neither is what was asked for.
        if type(score) is not int or score not in (0, 1):
            raise ValueError(f"{key} must be 0 or 1, not {score!r:.40}")
    return {key: value[key] for key in CRITERIA}


def _issues(value: Any) -> list[Issue]:
    if not isinstance(value, list):
        raise ValueError('"issues" must be a list')
    issues = []
    for entry in value:
        if not isinstance(entry, dict) or set(entry) != {"criterion", "explanation"}:
            raise ValueError('each issue must have exactly "criterion" and "explanation"')
        if entry["criterion"] not in CRITERIA:
            raise ValueError(f"there is no criterion {entry['criterion']!r:.60}")
        explanation = entry["explanation"]
        if not isinstance(explanation, str) or not explanation.strip():
            raise ValueError(f"the explanation of {entry['criterion']} is empty")
        _check_explanation(entry["criterion"], explanation.strip())
        issues.append(Issue(criterion=entry["criterion"], explanation=explanation.strip()))
    return issues


def _check_explanation(criterion: str, explanation: str) -> None:
    if sentences(explanation) > SENTENCES:
        raise ValueError(f"the explanation of {criterion} has more than {SENTENCES} sentences")
    letters = len(_LETTER.findall(explanation))
    if letters == 0 or len(_READABLE.findall(explanation)) < letters / 2:
        raise ValueError(f"the explanation of {criterion} is not in English, Arabic or Persian")


def sentences(text: str) -> int:
    """How many sentences a text has; full stops of abbreviations end none."""
    text = _ABBREVIATION.sub("", text).strip()
    ends = list(_SENTENCE_END.finditer(text))
    tail = text[ends[-1].end() :] if ends else text
    return len(ends) + bool(_LETTER.search(tail))


def _listed(keys: Any) -> str:
    return ", ".join(str(key)[:40] for key in list(keys)[:12]) or "nothing"
