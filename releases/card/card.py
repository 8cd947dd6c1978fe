"""README.md, the card: front matter and generated sections between markers; all other text is people's."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

from mihakk.machinery.languages import language_name
from mihakk.machinery.markdown import link, plain, table
from mihakk.machinery.registry import plugin_packages
from mihakk.releases.card.audit_section import audit_section, limits
from mihakk.releases.card.citation import bibtex
from mihakk.releases.card.matter import CardMatter
from mihakk.releases.card.structure import columns, contents, examples, front_matter, title_of
from mihakk.releases.content.canary import canary_line
from mihakk.releases.content.item_tables import CORE
from mihakk.releases.licence import licences
from mihakk.releases.release_facts import CoreFact, ReleaseFacts, SourceFact
from mihakk.releases.versions.withdrawal import mark_card
from mihakk.schemas.audit import by_audit_state
from mihakk.schemas.blind import LEAST_GROUPS

CODE_VERSION = "code version `{}`"
_BEGIN = "<!-- generated:begin {} -->"
_CODE_VERSION = re.compile(re.escape(CODE_VERSION).replace(re.escape("{}"), "([^`]+)"))
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_BLOCK = re.compile(r"<!-- generated:begin (\S+) -->(?:[^<]|<(?!!-- generated:))*+<!-- generated:end \1 -->")
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_CATEGORIES = {"choice": "multiple-choice", "answer": "question-answering", "explanation": "text-generation"}


def card(matter: CardMatter, previous: str = "") -> str:
    """The card's text.

    Of `previous`, the last card, all text outside the markers is kept word for word; without one, a card with
    every section is written.
    """
    statuses: Counter[str] = Counter(one.status for one in matter.release.papers.verdicts)
    sections = {
        "summary": _summary(matter),
        "description": _description(matter),
        "use": _use(matter),
        "contents": _contents(matter),
        **_core(matter, previous),
        "sources": _sources(matter),
        "making": _making(matter),
        "audit": audit_section(matter.facts, matter.audit_states, statuses, matter.told_items),
        "limits": limits(matter.facts, matter.overrides, matter.audit_states, matter.told_items)
        + _untold(matter),
        "charts": "\n\n".join(
            ["## Charts", *(f"![{shown}]({file})" for file, shown in matter.charts.items())]
        ),
        "citation": f"## Citation\n\n```bibtex\n{bibtex(matter.config, matter.facts, matter.version)}\n```",
        "datasheet": datasheet(matter),
    }
    body = _written_by_people(previous, matter.config.title)
    for name, text in sections.items():
        body = _replace(body, name, text)
    body = mark_card(body, matter.version, matter.facts.withdrawn)
    return _front_matter(matter) + body


def _core(matter: CardMatter, previous: str) -> dict[str, str]:
    """The core's section; emptied where the version before had a core and this one has none."""
    if matter.release.core is not None:
        return {"core": core_section(matter.config.name, matter.release.core.fact)}
    return {"core": ""} if _BEGIN.format("core") in previous else {}


def _written_by_people(previous: str, title: str) -> str:
    """The last card without its front matter; only the title where people wrote nothing into it.

    So a card that nobody edited takes the order of sections that a new one has.
    """
    head = f"# {plain(title)}\n"
    body = _FRONT.sub("", previous, count=1)
    left = _BLOCK.sub("", body).strip()
    return body if left and left != head.strip() else head


def code_version(text: str) -> str | None:
    """The code that a card says the items were made with."""
    found = _CODE_VERSION.search(text)
    return found and found[1]


def _replace(body: str, name: str, text: str) -> str:
    begin, end = _BEGIN.format(name), f"<!-- generated:end {name} -->"
    block = f"{begin}\n{text.strip()}\n{end}"
    before, begun, rest = body.partition(begin)
    _, ended, after = rest.partition(end)
    if begun and ended:
        return f"{before}{block}{after}"
    return f"{body.rstrip()}\n\n{block}\n"


def _front_matter(matter: CardMatter) -> str:
    configs: list[dict[str, Any]] = []
    cores: list[dict[str, Any]] = []
    for name in dict.fromkeys(split.config for split in matter.splits):
        mine = [split for split in matter.splits if split.config == name]
        files = [{"split": split.split, "path": f"{name}/{split.split}-*.parquet"} for split in mine]
        configs.append({"config_name": name, "data_files": files})
        if matter.release.core is not None and name in matter.release.core.fact.rows:
            drawn = {"split": "test", "path": f"core/{name}.parquet"}
            others = [dict(file) for file in files if file["split"] != "test"]
            cores.append({"config_name": f"{name}{CORE}", "data_files": [drawn, *others]})
    release = matter.config.release
    return front_matter(
        pretty_name=release.title or matter.config.title,
        languages=sorted({split.config.split("_", 1)[0] for split in matter.splits}),
        licence=release.licence,
        tags=("poetry", "idioms"),
        version=matter.version,
        configs=[*configs, *cores],
        task_categories=sorted({_CATEGORIES[split.kind] for split in matter.splits}),
        size_categories=[next((name for size, name in _SIZES if matter.items < size), "n>1M")],
        annotations_creators=["machine-generated", *(["expert-generated"] if matter.reviewed else [])],
    )


def _summary(matter: CardMatter) -> str:
    configs = len({split.config for split in matter.splits})
    return (
        f"**Version {matter.version}**: {matter.items} items in {configs} configs. What changed since the "
        "version before stands in `CHANGELOG.md`, what was removed and why in `errata/removed.parquet`, what "
        "rules, auditors and people said of each item in `audit/`.\n\n"
        f"> {canary_line(matter.config.name, matter.release.canary)}"
    )


def _description(matter: CardMatter) -> str:
    release = matter.config.release
    spoken = sorted({language_name(one) for one in (s.config.split("_", 1)[0] for s in matter.splits)})
    asked = sorted({title_of(split.config) for split in matter.splits})
    sources = ", ".join(dict.fromkeys(one.title or one.name for one in matter.facts.sources)) or "records"
    lines = [
        "## Dataset Details",
        "",
        f"Questions for language models, made from {plain(sources)}. "
        f"They ask for: {plain('; '.join(asked))}.",
        "",
        f"- **Curated by:** {plain(', '.join(release.authors))}",
        f"- **Language(s):** {', '.join(spoken)}",
        f"- **License:** {plain(release.licence)}",
    ]
    if release.repository:
        lines.append(f"- **Repository:** {plain(release.repository)}")
    return "\n".join(lines)


def _contents(matter: CardMatter) -> str:
    parts = [
        "## Dataset Structure",
        contents(matter.splits),
        "`recall` tasks ask for a text that whoever has it by heart knows, and that can be looked up; what a "
        "`computed` one asks for a published program computes, and the texts of a `lookup` one stand in "
        "public sources that were searched; `skill` tasks ask for something done with a text. They are never "
        "averaged together"
        + ("." if matter.config.release.blind == "off" else ", and a blind ranking has `skill` alone."),
        examples(matter.examples),
        columns(),
        "### Splits",
    ]
    if matter.config.release.blind != "off":
        parts.append(
            "The test split is blind: its golds are "
            + (
                "in a private repository"
                if matter.config.release.blind == "repository"
                else "encrypted in `answers/`"
            )
            + ", and so is all that would give them away: metadata, sources, credits, groups, and what "
            "rules, auditors and people said of them (`sealed` rows)."
        )
    parts.append(
        "Items about one poem or idiom, near duplicates and the two option orders of a pair share a split; "
        "the column `group` names what belongs together (use it for clustered standard errors). The side is "
        "drawn by a hash of the group, so a new record moves no other."
    )
    if matter.config.release.blind != "off":
        parts.append(_submitting(matter))
    return "\n\n".join(part for part in parts if part)


def _submitting(matter: CardMatter) -> str:
    config = matter.config
    name = config.release.repository or config.name
    if matter.release.ranked_groups < LEAST_GROUPS:
        return (
            "### Submitting answers\n\nNo board is held over this version: of its test split a blind ranking "
            f"has questions about fewer than {LEAST_GROUPS} poems and idioms, too few for two halves."
        )
    place = f"to {plain(config.release.submit_to)}" if config.release.submit_to else "to the maintainers"
    return (
        "### Submitting answers\n\n"
        'Write one JSON line an item, `{"item": ID, "reply": TEXT}`, for every item of the test split, and a '
        "YAML file that says `team`, `model`, `revision`, `release`, `version`, `kind` and `open`. Then\n\n"
        f"```bash\nmihakk evaluate submit REPLIES.jsonl --card CARD.yaml --release {name}@{matter.version} "
        "--to .\n```\n\n"
        f"checks them and writes the file to be sent {place}. At most three submissions a week and team are "
        "scored, one a model revision. Figures are of one half of the split, with noise; "
        "the other half is opened when the season ends. No item's score is ever given."
    )


def _sources(matter: CardMatter) -> str:
    rows = [
        (link(one.title or one.name, one.home), plain(one.revision), plain(one.licence),
         plain(one.attribution), one.records)
        for one in matter.facts.sources
    ]  # fmt: skip
    counts: Counter[str] = Counter()
    is_blind = matter.release.answers is not None
    for split in matter.splits:
        counts.update(split.licences)
    known = licences()
    named = [
        (link(known[name].title, known[name].url) if name in known else plain(name), count)
        for name, count in sorted(counts.items())
    ]
    parts = ["## Dataset Creation", "### Source Data"]
    if rows:
        parts.append(table(("source", "revision", "licence", "credit", "records read"), rows))
    parts += [
        f"{plain(one.title or one.name)}: {'; '.join(told)}."
        for one in matter.facts.sources
        if (told := _by_people(one))
    ]
    parts.append(table(("licence of the record", "open items" if is_blind else "items"), named))
    parts.append(
        f"The collection as a whole is under {plain(matter.config.release.licence)}; each record keeps the "
        "licence and the credit line of its source in the columns `licence` and `attribution`."
    )
    return "\n\n".join(parts)


def _by_people(source: SourceFact) -> list[str]:
    """What of a source's reading rests on a person's word."""
    signs = ", ".join(f"`{name}`" for name in source.accepted)
    found = [f"signs of a misreading that a person looked at and took for right: {signs}"] if signs else []
    return found + ([f"a person counted {source.stated} entries in it"] if source.stated else [])


def _making(matter: CardMatter) -> str:
    parts = ["### Data Collection and Processing"]
    if matter.facts.funnel:
        rows = [
            (one.stage, plain(one.source or "all"), one.read, one.kept, one.rejected, one.merged, one.written)
            for one in matter.facts.funnel
        ]
        parts.append(table(("stage", "source", "read", "kept", "rejected", "merged", "written"), rows))
    if matter.removed:
        parts.append("Items left out, by reason (evidence in `errata/removed.parquet`):")
        parts.append(
            table(
                ("reason", "items"),
                [(plain(reason), count) for reason, count in sorted(matter.removed.items())],
            )
        )
    off = matter.config.checks.off
    parts.append(f"Checks switched off: {plain(', '.join(off))}." if off else "Every check ran.")
    if packages := plugin_packages("source", "task", "check", "language"):
        parts.append(f"Plugins of other packages were installed: {plain('; '.join(packages))}.")
    seed = matter.config.seed if matter.config.release.blind == "off" else "withheld"
    parts.append(f"Build seed {seed}; {CODE_VERSION.format(matter.facts.code_version)}.")
    if (word := matter.facts.sign_off) and word.decision == "approve":
        parts.append(f"Signed off by {plain(word.name)} on {word.decided_at:%Y-%m-%d}.")
    return "\n\n".join(parts)


def _use(matter: CardMatter) -> str:
    config = matter.splits[0].config if matter.splits else "config"
    name = matter.config.name
    task = config if matter.config.release.blind == "off" else f"{config}_dev"
    return (
        "## Uses\n\n### Direct Use\n\n```python\nfrom datasets import load_dataset\n\n"
        f'load_dataset(PATH_OR_REPOSITORY, "{config}", revision="{matter.version}")\n```\n\n'
        "`prompt` is what a model is asked; `gold` (or `answer`, `explanations`) is what counts as right. "
        "Tags can be moved: check `MANIFEST.sha256` and the column `version`, or resolve the tag to a commit "
        "once and load by the commit.\n\n"
        "```\n"
        f"lm-eval run --model hf --model_args pretrained=MODEL --include_path eval/lm_eval --tasks {name}\n"
        f'lighteval accelerate "model_name=MODEL" "{name}-{matter.version}:{task}|0" '
        "--custom-tasks eval/lighteval/tasks.py\n"
        f"inspect eval eval/inspect/tasks.py@{task} --model PROVIDER/MODEL\n```\n\n"
        "All read the data files beside them and refuse any that differ from this version's. Choices are "
        "scored by accuracy (and by the share of pairs right in both orders), answers in words by exact "
        "match after spelling is folded and by character error rate, explanations by chrF.\n\n"
        "### Out-of-Scope Use\n\nTraining, and ranking models that were trained on these questions."
    )


SHOWN = 12
"""Values of a stratum; the rest is counted."""


def core_section(name: str, core: CoreFact) -> str:
    """The section's Markdown."""
    parts = [
        "## Core",
        f"{core.questions} questions of the test split, about {core.works} poems and idioms, for those who "
        "can't run all of it: configs that end in `_core`, harness tag "
        f"`{plain(name)}_core`, ids and bands of difficulty in `core/index.parquet`. The rows are those of "
        f"the full set; {core.available} questions could be drawn. A question in both option orders counts "
        "once; tasks that share couplets ask about the same ones. Places are drawn by hashes of names: a "
        f"poem or idiom that goes takes its own places with it (at most {core.places_per_work}), as many "
        "others come in, and no other place changes. A band is told from the item alone (how near the "
        "nearest wrong option is to the right one, how long an answer is): no system was asked."
        + (
            f" {core.left_out} questions could not be drawn because answers to an earlier version told "
            "nothing of the systems that gave them."
            if core.left_out
            else ""
        ),
        "Standard error of a system that is right half of the time, and the smallest difference between two "
        "systems that shows 80 % of the time (two-sided 5 %, paired, their scores correlated by .5). The "
        "first figure holds if questions are independent, the second if all questions about one poem are "
        "right or wrong together; the truth lies between.",
    ]
    rows: list[tuple[object, ...]] = []
    for stratum in dict.fromkeys(one.stratum for one in core.slices):
        mine = sorted(
            (one for one in core.slices if one.stratum == stratum),
            key=lambda one: (-one.questions, one.value),
        )
        rows += [
            (
                plain(f"{stratum} {one.value}"),
                one.questions,
                one.works,
                f"{one.error:.3f} to {one.error_by_work:.3f}",
                f"{one.difference:.3f} to {one.difference_by_work:.3f}",
            )
            for one in mine[:SHOWN]
        ]
        if len(mine) > SHOWN:
            rest = sum(one.questions for one in mine[SHOWN:])
            rows.append((f"{plain(stratum)}: {len(mine) - SHOWN} more", rest, "", "", ""))
    head = ("slice", "questions", "poems and idioms", "standard error", "smallest difference")
    parts.append(table(head, rows))
    return "\n\n".join(parts)


def datasheet(matter: CardMatter) -> str:
    """The section's text."""
    config, facts, removed = matter.config, matter.facts, sum(matter.removed.values())
    sources = plain(", ".join(one.title or one.name for one in facts.sources)) or "not named"
    kept = config.curate.sensitive == "keep"
    toys = " that are too small to judge" if any(not one.capable for one in facts.auditors) else ""
    left = "Unknown: nobody has sampled the unflagged items."
    people = _people(facts)
    if matter.release.answers is not None:
        left, people = (f"Not told: see the gate `{gate}`." for gate in ("miss_rate", "agreement"))
    elif facts.miss_rate is not None:
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
            f"({by_audit_state(matter.audit_states, matter.told_items)}); people, {matter.reviewed} "
            f"{matter.told_items}. {people}",
        ),
        ("What share of defects is left?", left),
        ("What is it not for?", "Training; ranking models that were trained on these questions."),
        ("How is it kept up?", "Report a defect as a file; the next version names every change."),
    )
    return "## Datasheet\n\n" + table(("question", "answer"), rows)


def _untold(matter: CardMatter) -> str:
    if matter.release.answers is None:
        return ""
    return (
        "\n- Figures on audit and review are of the open items alone, and what solvers that go by form alone "
        "score, how far people agree and what share of defects they found is not printed: two versions' "
        "figures would tell of a sealed question that left. The gates in `audit/gates.json` were decided "
        "over all items."
    )


def _own_labels(matter: CardMatter) -> list[tuple[str, str]]:
    """What our own code, not a source, says of items."""
    asked = sum((Counter(one.metadata.get("gold_from", {})) for one in matter.splits), Counter[str]())
    scanned = sum(sum(one.metadata.get("metre_from", {}).values()) for one in matter.splits)
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
