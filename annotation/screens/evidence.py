"""What checks and auditors hold against an item, in sentences of the reader's language.

Only who decides a dispute, and the lead, are shown it; the labelling server never gets any of it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

from mihakk.annotation.screens.labelling import words
from mihakk.annotation.screens.tasks import TEMPLATE
from mihakk.machinery.configs import load_yaml
from mihakk.schemas.audit import Audit
from mihakk.schemas.finding import Finding
from mihakk.schemas.record import Language

SENTENCES = Path(__file__).with_name("evidence.yaml")
_PIECE = re.compile(r"(?s:«.{0,500}»)|(?<!\w)'[^']*'(?!\w)|\"[^\"]*\"|U\+[0-9A-F]{4,6}|\d+(?:\.\d+)?%?")
_UNFILLED = re.compile(r"(?:(?<!\s)\s++)?\([^(){}]*\{\d\}[^()]*\)")
_CONTROLS = re.compile("[\u200e\u200f\u202a-\u202e\u2066-\u2069\u061c]")


def isolated(text: str) -> str:
    """The text between a first-strong isolate and its end, so that it can't turn what stands around it.

    Direction controls of its own are spelled out: one more end of an isolate would break out of it.
    """
    return f"\u2068{_CONTROLS.sub(lambda found: f'U+{ord(found.group()):04X}', text)}\u2069"


def finding_sentence(finding: Finding, screen: Language) -> str:
    """A finding as a sentence: where, what is wrong, and what it quotes, each quote isolated.

    A check without a sentence in that language, and every check in English, speaks in its own words.
    """
    known = sentences(screen).get(finding.check)
    if known is None:
        body = isolated(finding.detail)
    else:
        pieces = [piece.strip("'\"") for piece in _PIECE.findall(finding.detail)]
        wanted = known.count("{")
        if len(pieces) < wanted:
            known, wanted = _UNFILLED.sub("", known), 0
        quoted = [piece for piece in pieces[wanted:] if not piece[0].isdigit()]
        body = known.format(*map(isolated, pieces))
        if quoted:
            body = f"{body.removesuffix('.')}: {'، '.join(map(isolated, quoted))}"
        elif not wanted and not known.endswith("."):
            body = f"{body}: {isolated(finding.detail)}"
    place = _place(finding.where, screen)
    return f"{finding.check} · {place}{body}"


def auditor_sentences(audit: Audit, screen: Language) -> list[str]:
    """What one auditor holds against an item, a sentence each: the defect as annotators read it, then why."""
    told, criteria = sentences(screen), words(TEMPLATE, screen)["criteria"]
    lines = [
        f"{told['auditor'].format(isolated(audit.auditor), criteria[issue.criterion])}: "
        f"{isolated(issue.explanation)}"
        for issue in audit.issues
    ]
    if audit.blind_differs:
        lines.append(f"{told['blind'].format(isolated(audit.auditor))}: {isolated(str(audit.blind_answer))}")
    return lines


@cache
def sentences(screen: Language) -> dict[str, str]:
    """The sentences of one language, by check, and those for auditors and for systems' answers."""
    known: dict[str, dict[str, str]] = load_yaml(SENTENCES, own=True)
    return known[screen]


def field_name(field: str, screen: Language) -> str:
    """What a field of an item is called on the screen, an option by its letter; else the field itself."""
    labels: dict[str, Any] = words(TEMPLATE, screen)
    found = re.fullmatch(r"options\[(\d+)\]", field)
    if found and int(found[1]) < len(labels["letters"]):
        return f"{labels['option']} {labels['letters'][int(found[1])]}"
    known = ("context", "question", "answer", "accepted", "gold", "overall")
    return str(labels[field]) if field in known else isolated(field)


def _place(where: str, screen: Language) -> str:
    """The field a finding speaks of; nothing where the sentence tells it."""
    shown = where in ("context", "question", "answer", "overall") or "[" in where
    return f"{field_name(where, screen)}: " if shown else ""
