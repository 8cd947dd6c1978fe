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
    """By auditor, the replies that its audits rest on; of several to one call, one by a declared model.

    Args:
        auditors: From the config.
        audits: Whose replies.
        folder: Of the journals.
    """
    declared = {one.name: ("", *one.names) for one in auditors}
    wanted = {one.reply_key: one.auditor for one in audits if one.auditor in declared}
    found: dict[str, Answered] = {}
    for entry in entries_of(folder):
        by = declared.get(wanted.get(entry.key, ""))
        if by and (entry.key not in found or found[entry.key].response_model not in by):
            found[entry.key] = Answered(entry.at, entry.response_model, entry.system_fingerprint)
    answers: dict[str, list[Answered]] = defaultdict(list)
    for key, answered in sorted(found.items(), key=lambda pair: pair[1].at):
        answers[wanted[key]].append(answered)
    return answers
