"""README.md, the card: front matter and generated sections between markers; all other text is people's."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import yaml

from releases.agreement import ALL
from releases.canary import canary_line
from releases.datasheet import datasheet
from releases.facts import BaselineFact, ReleaseFacts
from releases.licence import hub_licence, licences
from releases.markdown import link, plain, table
from schemas.benchmark import BenchmarkConfig

CODE_VERSION = "code version `{}`"
_CODE_VERSION = re.compile(re.escape(CODE_VERSION).replace(re.escape("{}"), "([^`]+)"))
_FRONT = re.compile(r"\A---\n.*?\n---\n", re.DOTALL)
_SIZES = ((1_000, "n<1K"), (10_000, "1K<n<10K"), (100_000, "10K<n<100K"), (1_000_000, "100K<n<1M"))
_CATEGORIES = {"choice": "multiple-choice", "answer": "question-answering", "explanation": "text-generation"}


@dataclass(frozen=True)
class SplitSummary:
    """One split of one config."""

    config: str
    split: str
    kind: str
    rows: int
    bytes: int
    """Bytes of its Parquet files."""
    features: list[dict[str, Any]]
    licences: Mapping[str, int]
    metadata: Mapping[str, Mapping[str, int]]
    """Metadata field -> value -> items."""


@dataclass(frozen=True)
class CardMatter:
    """What the generated sections are written from."""

    config: BenchmarkConfig
    facts: ReleaseFacts
    version: str
    splits: Sequence[SplitSummary]
    statuses: Mapping[str, int]
    """Verdict status -> items, withheld ones included."""
    audited: int
    """Released items that both auditors saw."""
    reviewed: int
    """Released items that people decided on."""
    removed: Mapping[str, int]
    """Reason -> items in the errata."""
    charts: Mapping[str, str]
    """File of a chart -> what it shows."""

    @property
    def items(self) -> int:
        """Items in the release."""
        return sum(split.rows for split in self.splits)


def card(matter: CardMatter, previous: str = "") -> str:
    """The card's text.

    Args:
        matter: What the generated parts are made from.
        previous: The last card: its text outside the markers is kept word for word. When empty, a card
            with every section and one line of introduction is written.
    """
    sections = {
        "summary": _summary(matter),
        "contents": _contents(matter),
        "sources": _sources(matter),
        "making": _making(matter),
        "audit": _audit(matter),
        "charts": _charts(matter),
        "limits": _limits(matter),
        "datasheet": datasheet(
            matter.config,
            matter.facts,
            items=matter.items,
            audited=matter.audited,
            reviewed=matter.reviewed,
            removed=matter.removed,
        ),
        "use": _use(matter),
    }
    body = _FRONT.sub("", previous, count=1) if previous else f"# {plain(matter.config.title)}\n"
    for name, text in sections.items():
        body = _replace(body, name, text)
    return f"---\n{_front_matter(matter)}---\n{body}"


def code_version(text: str) -> str | None:
    """The code that a card says the items were made with."""
    found = _CODE_VERSION.search(text)
    return found and found[1]


def _replace(body: str, name: str, text: str) -> str:
    begin, end = f"<!-- generated:begin {name} -->", f"<!-- generated:end {name} -->"
    block = f"{begin}\n{text.strip()}\n{end}"
    found = re.compile(re.escape(begin) + r".*?" + re.escape(end), re.DOTALL)
    if found.search(body):
        return found.sub(lambda _: block, body, count=1)
    return f"{body.rstrip()}\n\n{block}\n"


def _front_matter(matter: CardMatter) -> str:
    configs, infos = [], []
    for name in dict.fromkeys(split.config for split in matter.splits):
        mine = [split for split in matter.splits if split.config == name]
        files = [{"split": split.split, "path": f"{name}/{split.split}-*.parquet"} for split in mine]
        configs.append({"config_name": name, "data_files": files})
        infos.append(
            {
                "config_name": name,
                "features": mine[0].features,
                "splits": [
                    {"name": split.split, "num_bytes": split.bytes, "num_examples": split.rows}
                    for split in mine
                ],
                "download_size": sum(split.bytes for split in mine),
                "dataset_size": sum(split.bytes for split in mine),
            }
        )
    release = matter.config.release
    identifier = hub_licence(release.licence)
    front: dict[str, Any] = {
        "pretty_name": release.title or matter.config.title,
        "language": sorted({split.config.split("_", 1)[0] for split in matter.splits}),
        "license": identifier,
        **({"license_name": release.licence.lower()} if identifier == "other" else {}),
        "task_categories": sorted({_CATEGORIES[split.kind] for split in matter.splits}),
        "size_categories": [next((name for size, name in _SIZES if matter.items < size), "n>1M")],
        "annotations_creators": ["machine-generated", *(["expert-generated"] if matter.reviewed else [])],
        "tags": ["benchmark", "evaluation", "poetry", "idioms", f"version-{matter.version}"],
        "version": matter.version,
        "configs": configs,
        "dataset_info": infos,
    }
    return yaml.safe_dump(front, allow_unicode=True, sort_keys=False, width=110)


def _summary(matter: CardMatter) -> str:
    configs = len({split.config for split in matter.splits})
    return (
        f"**Version {matter.version}**: {matter.items} items in {configs} configs. What changed since the "
        "version before stands in `CHANGELOG.md`, what was removed and why in `errata/removed.parquet`, what "
        "rules, auditors and people said of each item in `audit/`.\n\n"
        f"> {canary_line(matter.config.name)}"
    )


def _contents(matter: CardMatter) -> str:
    rows = [(plain(split.config), plain(split.split), split.kind, split.rows) for split in matter.splits]
    parts = ["## Contents", table(("config", "split", "kind", "items"), rows)]
    for field in ("era", "genre", "metre"):
        counts: Counter[str] = Counter()
        for split in matter.splits:
            counts.update(split.metadata.get(field, {}))
        if counts:
            top = [(plain(value), count) for value, count in counts.most_common(12)]
            parts.append(table((field, "items"), top))
            if len(counts) > len(top):
                parts.append(f"and {len(counts) - len(top)} more values of `{field}`.")
    if matter.config.release.blind != "off":
        parts.append(
            "The test split is blind: its golds are "
            + (
                "in a private repository"
                if matter.config.release.blind == "repository"
                else "encrypted in `answers/`"
            )
            + ", and so is all that would give them away (`sealed` rows). "
            "Send predictions to the maintainers."
        )
    parts.append(
        "Items about one poem or idiom, near duplicates and the two option orders of a pair share a split; "
        "the column `group` names what belongs together (use it for clustered standard errors). The side is "
        "drawn by a hash of the group, so a new record moves no other."
    )
    return "\n\n".join(parts)


def _sources(matter: CardMatter) -> str:
    rows = [
        (link(one.title or one.name, one.home), plain(one.revision), plain(one.licence),
         plain(one.attribution), one.records)
        for one in matter.facts.sources
    ]  # fmt: skip
    counts: Counter[str] = Counter()
    for split in matter.splits:
        counts.update(split.licences)
    known = licences()
    named = [
        (link(known[name].title, known[name].url) if name in known else plain(name), count)
        for name, count in sorted(counts.items())
    ]
    parts = ["## Sources and licences"]
    if rows:
        parts.append(table(("source", "revision", "licence", "credit", "records read"), rows))
    parts.append(table(("licence of the record", "items"), named))
    parts.append(
        f"The collection as a whole is under {plain(matter.config.release.licence)}; each record keeps the "
        "licence and the credit line of its source in the columns `licence` and `attribution`."
    )
    return "\n\n".join(parts)


def _making(matter: CardMatter) -> str:
    parts = ["## How it was made"]
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
    seed = matter.config.seed if matter.config.release.blind == "off" else "secret"
    parts.append(f"Build seed {seed}; {CODE_VERSION.format(matter.facts.code_version)}.")
    if (word := matter.facts.sign_off) and word.decision == "approve":
        note = f": {plain(word.note)}" if word.note else ""
        parts.append(f"Signed off by {plain(word.name)} on {word.decided_at:%Y-%m-%d}{note}")
    return "\n\n".join(parts)


def _audit(matter: CardMatter) -> str:
    facts = matter.facts
    parts = ["## Audit and review"]
    if facts.auditors:
        rows = [
            (*map(plain, (one.name, one.family, one.model, one.revision[:12])),
             "yes" if one.capable else "no", one.replies, one.invalid)
            for one in facts.auditors
        ]  # fmt: skip
        parts.append(
            table(("auditor", "family", "model", "revision", "capable judge", "replies", "invalid"), rows)
        )
    verdicts = ", ".join(f"{count} {name}" for name, count in sorted(matter.statuses.items())) or "none"
    parts.append(
        f"{matter.audited} of {matter.items} released items were seen by both auditors. Verdicts over all "
        f"items made: {verdicts}; "
        f"{facts.unresolved} flagged items wait for people and are not in this release."
    )
    parts += [
        f"The auditors gave the same score {one.observed:.2%} of {one.scores} times: Gwet's AC1 {one.ac1:.3f}"
        f"{'' if one.kappa is None else f', Cohen kappa {one.kappa:.3f}'}. The charts tell it by criterion."
        for one in facts.auditor_agreement
        if one.criterion == ALL
    ]
    if facts.agreement is not None:
        said = facts.agreement
        around = (
            ""
            if said.low is None or said.high is None
            else f" (95 % interval {said.low:.3f} to {said.high:.3f})"
        )
        parts.append(
            f"Agreement of {said.annotators} annotators on {said.items} items: {said.coefficient} "
            f"{said.value:.3f}{around}."
        )
    if facts.miss_rate is not None:
        miss = facts.miss_rate
        parts.append(
            f"Of {miss.sampled} unflagged items that people saw too, {miss.defective} were defective: "
            f"at most {miss.upper_bound:.2%} of the unflagged items are (95 %, Clopper-Pearson)."
        )
    return "\n\n".join(parts)


def _charts(matter: CardMatter) -> str:
    pictures = [f"![{shown}]({file})" for file, shown in matter.charts.items()]
    return "\n\n".join(["## Charts", *pictures])


def _limits(matter: CardMatter) -> str:
    facts = matter.facts
    lines = ["## Known limits", ""]
    weak = [one.name for one in facts.auditors if not one.capable]
    if weak:
        lines.append(
            f"- {plain(' and '.join(weak))} are too small to judge: their scores show that the audit runs, "
            "not that the items are good. Do not rank models on this release."
        )
    if not facts.auditors:
        lines.append("- No model audited these items.")
    if matter.audited < matter.items:
        lines.append(f"- {matter.items - matter.audited} released items were checked by rules alone.")
    if facts.miss_rate is None:
        lines.append("- Nobody has sampled the unflagged items, so the share of defects left is not known.")
    if facts.baselines:
        lines += ["- What players who never read the question score:", "", _baselines(facts.baselines)]
    return "\n".join(lines)


def _baselines(measured: Sequence[BaselineFact]) -> str:
    names = [name for name in dict.fromkeys(one.name for one in measured) if name != "random"]
    rows = []
    for config in dict.fromkeys(one.config for one in measured):
        mine = {one.name: one for one in measured if one.config == config}
        items = max(one.items for one in mine.values())
        chance = next(iter(mine.values())).chance
        found = [f"{mine[name].accuracy:.3f}" if name in mine else "" for name in names]
        rows.append((plain(config), items, f"{chance:.3f}", *found))
    return table(("config", "items", "chance", *(f"`{name}`" for name in names)), rows)


def _use(matter: CardMatter) -> str:
    config = matter.splits[0].config if matter.splits else "config"
    name = matter.config.name
    return (
        "## Use\n\n```python\nfrom datasets import load_dataset\n\n"
        f'load_dataset(PATH_OR_REPOSITORY, "{config}", revision="{matter.version}")\n```\n\n'
        "`prompt` is what a model is asked; `gold` (or `answer`, `explanations`) is what counts as right. "
        "Tags can be moved: check `MANIFEST.sha256` and the column `version`, or resolve the tag to a commit "
        "once and load by the commit.\n\n"
        "```\n"
        f"lm-eval run --model hf --model_args pretrained=MODEL --include_path eval/lm_eval --tasks {name}\n"
        f'lighteval accelerate "model_name=MODEL" "{name}-{matter.version}:{config}|0" '
        "--custom-tasks eval/lighteval/tasks.py\n```\n\n"
        "Both read the data files beside them and refuse any that differ from this version's."
    )
