"""The card's datasheet: what a reader asks before trusting or using a data set."""

from __future__ import annotations

from collections import Counter

from mihakk.machinery.markdown import plain, table
from mihakk.releases.card.matter import CardMatter
from mihakk.releases.release_facts import ReleaseFacts
from mihakk.schemas.audit import by_audit_state


def datasheet(matter: CardMatter) -> str:
    """The section's text."""
    config, facts, removed = matter.config, matter.facts, sum(matter.removed.values())
    sources = plain(", ".join(one.title or one.name for one in facts.sources)) or "not named"
    kept = config.curate.sensitive == "keep"
    toys = " that are too small to judge" if any(not one.capable for one in facts.auditors) else ""
    left = "Unknown: nobody has sampled the unflagged items."
    if facts.miss_rate is not None:
        left = f"{facts.miss_rate.sentence}."
    rows = (
        ("Why was it made?", "To measure what language models know of Arabic and Persian verse and idiom."),
        ("What does an item stand for?", "One question about a poem, a couplet, an idiom or a proverb."),
        ("How many are there?", f"{matter.items}; how they are spread stands under Dataset Structure."),
        ("Is it a sample?", f"Yes: what passed every check, of what these sources hold: {sources}."),
        (
            "What was left out?",
            f"{removed} items and records, with reasons, in `errata/`.",
        ),
        *_own_labels(matter),
        ("Does it hold personal data?", "Names of published poets only. Annotators are pseudonyms."),
        (
            "Could it offend?",
            "Verse and proverbs carry the views of their time; entries marked sensitive are "
            + ("kept." if kept else "left out."),
        ),
        (
            "Who checked it?",
            f"Rules, every item; {len(facts.auditors)} language models{toys} "
            f"({by_audit_state(matter.audit_states)}); people, {matter.reviewed} items. {_people(facts)}",
        ),
        ("What share of defects is left?", left),
        ("What is it not for?", "Training; ranking models that were trained on these questions."),
        ("How is it kept up?", "Report a defect as a file; the next version names every change."),
    )
    return "## Datasheet\n\n" + table(("question", "answer"), rows)


def _own_labels(matter: CardMatter) -> list[tuple[str, str]]:
    """What our own code, not a source, says of items."""
    metadata = [one.item.metadata for one in matter.release.released]
    asked = Counter(one["gold_from"] for one in metadata if "gold_from" in one)
    scanned = sum("metre_from" in one for one in metadata)
    told = [f"the gold of {count} questions ({name})" for name, count in sorted(asked.items())]
    told += [f"the metre of {scanned} items (`metadata.metre_from`), by scansion"] if scanned else []
    if not told:
        return []
    sure = (
        " Sure scansions were right in .982 [.975, .988] of couplets not used to build it." if scanned else ""
    )
    return [("What was labelled by our own code?", f"{'; '.join(told)}.{sure}")]


def _people(facts: ReleaseFacts) -> str:
    if facts.agreement is None:
        return "No agreement among people was measured for this version."
    return f"{facts.agreement.annotators} people judged {facts.agreement.items} items twice or more."
