"""Facts of an auditor for a release: which model it was, and whether it can judge."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from mihakk.machinery.llm.journal import entries_of
from mihakk.schemas.audit import Audit

if TYPE_CHECKING:
    from mihakk.releases.release_facts import AuditorFact
    from mihakk.schemas.model import ModelConfig


class Answered(NamedTuple):
    """Who answered a call, and when."""

    at: str
    response_model: str
    system_fingerprint: str


def auditor_fact(
    auditor: ModelConfig,
    replies: Mapping[str, int],
    answers: Iterable[Answered],
    own_family: int = 0,
) -> AuditorFact:
    """One auditor as the audit ran with it.

    Args:
        auditor: From the config.
        replies: Its replies per status.
        answers: Those replies, as of `answers_to`.
        own_family: Items it judged of which a model of its own family wrote a part.
    """
    from mihakk.machinery.llm.weights import catalogue
    from mihakk.releases.release_facts import AuditorFact

    answers = list(answers)
    bundled = auditor.serve.engine == "embedded" and auditor.serve.weights in catalogue()
    return AuditorFact(
        name=auditor.name,
        family=auditor.family,
        model=auditor.model,
        revision=auditor.revision,
        engine=auditor.serve.engine,
        bundled=bundled,
        capable=auditor.capable and not bundled,
        replies=sum(replies.values()),
        invalid=replies.get("invalid", 0),
        own_family=own_family,
        names=auditor.names,
        answered_by=tuple(dict.fromkeys(one.response_model for one in answers)),
        fingerprints=tuple(dict.fromkeys(filter(None, (one.system_fingerprint for one in answers)))),
    )


def answers_to(
    auditors: Iterable[ModelConfig], audits: Iterable[Audit], folder: Path
) -> dict[str, list[Answered]]:
    """By auditor, who gave the replies that its audits rest on, and when first.

    Of several replies to one call one by a declared model counts.

    Args:
        auditors: From the config.
        audits: Whose replies.
        folder: Of the journals.
    """
    declared = {one.name: ("", *one.names) for one in auditors}
    names = {name: name for name in declared}  # one text for all calls of an auditor
    wanted = {one.reply_key: names[one.auditor] for one in audits if one.auditor in declared}
    others: dict[str, tuple[str, Answered]] = {}
    first: dict[tuple[str, str, str], Answered] = {}

    def note(auditor: str, answered: Answered) -> None:
        who = auditor, answered.response_model, answered.system_fingerprint
        first[who] = min(first.get(who, answered), answered, key=lambda one: one.at)

    for entry in entries_of(folder):
        auditor = wanted.get(entry.key)
        if auditor is None:
            continue
        answered = Answered(entry.at, entry.response_model, entry.system_fingerprint)
        if answered.response_model in declared[auditor]:
            note(auditor, answered)
            del wanted[entry.key]
            others.pop(entry.key, None)
        else:
            others[entry.key] = auditor, answered
    for auditor, answered in others.values():
        note(auditor, answered)
    answers: dict[str, list[Answered]] = defaultdict(list)
    for (auditor, *_), answered in sorted(first.items(), key=lambda pair: pair[1].at):
        answers[auditor].append(answered)
    return answers
