"""Facts of an auditor for a release: which model it was, and whether it can judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from releases.release_facts import AuditorFact
    from schemas.model import ModelConfig


def auditor_fact(auditor: ModelConfig, replies: Mapping[str, int], own_family: int = 0) -> AuditorFact:
    """One auditor as the audit ran with it.

    Args:
        auditor: From the config.
        replies: Its replies per status.
        own_family: Items it judged of which a model of its own family wrote a part.
    """
    from mihakk.llm.weights import catalogue
    from releases.release_facts import AuditorFact

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
    )
