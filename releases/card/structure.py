"""The card's front matter and its sections on the content: what each task asks, an example, the columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from mihakk.generators.task import TASKS
from mihakk.machinery.markdown import Columns, code, plain, table, table_of
from mihakk.machinery.taxonomy import Kind, vocabulary, with_tables
from mihakk.releases.card.matter import SplitSummary
from mihakk.releases.licence import hub_licence

LONGEST = 600
"""Characters of an example that are shown."""
COUNTED = 12
"""Values of a metadata field that are named; the rest is counted."""
_KINDS: tuple[Kind, ...] = ("era", "genre", "metre")
COLUMNS: tuple[tuple[str, str], ...] = (
    ("id", "name of the item, the same in all versions"),
    ("version, canary", "the release's version; the benchmark's canary"),
    ("content_hash", "digest of all that a score depends on: compare it across versions"),
    ("task, kind, language, dialect", "what is asked, how it is answered, in which language"),
    ("prompt", "the whole text that a model is given"),
    ("prompts", "the same by language, where the benchmark asks in several"),
    ("question, context, fields", "the parts of the prompt"),
    ("options, labels", "choices: the options, and the labels a reply may name"),
    ("gold", "choices: indices of the right options, counted from 0"),
    ("option_kinds", "choices: what each option is, so that errors can be counted by kind"),
    ("pair_id, order", "choices: joins the two orders of one question's options"),
    ("answer, accepted", "answers in words: the reference, and what counts as right besides"),
    ("verses, explanations, overall", "explanations: the verses, one reference for each, one for the whole"),
    ("metadata", "poet, era, genre, metre, rhyme, form where they are known"),
    ("subset", "part of an outside benchmark that the item comes from"),
    ("group", "items about one poem or idiom: cluster standard errors by it"),
    ("origin", "source records, generator, seed and model that the item comes from"),
    ("licence, attribution", "terms and credit line of the item's source"),
    ("verdict, audited, audit_state", "what rules, auditors and people said, and how far it was audited"),
    ("sealed", "whether the gold is withheld"),
    ("ability", "of blind releases: what the config is ranked under"),
)


def front_matter(
    *,
    pretty_name: str,
    languages: Sequence[str],
    licence: str,
    tags: Iterable[str],
    version: str,
    configs: Sequence[dict[str, Any]],
    **more: Any,
) -> str:
    """The block between its two rules; `more` stands before the tags, what is empty is left out."""
    identifier = hub_licence(licence)
    front: dict[str, Any] = {
        "pretty_name": pretty_name,
        "language": list(languages),
        "license": identifier,
        **({"license_name": licence.lower()} if identifier == "other" else {}),
        **{name: value for name, value in more.items() if value},
        "tags": ["benchmark", "evaluation", *tags, f"version-{version}"],
        "version": version,
        "configs": list(configs),
    }
    return f"---\n{yaml.safe_dump(front, allow_unicode=True, sort_keys=False, width=110)}---\n"


def title_of(config: str) -> str:
    """What a config asks, in the words of its task; the config's own name where no task is known."""
    name = config.partition("_")[2]
    return TASKS.get(name).title if name in TASKS.names() else name.replace("_", " ")


def spoken(field: str, value: str, language: str) -> str:
    """A metadata value by its real name: of a metre, an era, a genre; others as they are."""
    if field not in _KINDS:
        return value
    words = vocabulary(field, with_tables(language))
    entry = None if words is None else words.entries.get(value)
    if entry is None:
        return value
    own = next((entry[name] for name in ("name", "ar", "fa", "pattern") if entry.get(name)), value)
    return f"{own} ({entry['en']})" if entry.get("en") else str(own)


def contents(splits: Sequence[SplitSummary]) -> str:
    """Configs with what they ask and their sizes, then the commonest eras, genres and metres."""
    columns: Columns[SplitSummary] = {
        "config": lambda split: plain(split.config),
        "asks for": lambda split: plain(title_of(split.config)),
        "split": lambda split: plain(split.split),
        "kind": lambda split: split.kind,
        "items": lambda split: split.rows,
        "ability": lambda split: split.ability,
    }
    parts = [table_of(columns, splits)]
    for field in _KINDS:
        counts: Counter[str] = Counter()
        for split in splits:
            for value, count in split.metadata.get(field, {}).items():
                counts[spoken(field, value, split.config.partition("_")[0])] += count
        if counts:
            top = [(plain(value), count) for value, count in counts.most_common(COUNTED)]
            parts.append(table((field, "items"), top))
            if len(counts) > len(top):
                parts.append(f"and {len(counts) - len(top)} more values of `{field}`.")
    return "\n\n".join(parts)


def examples(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """One item of each config as a model sees it, with what counts as right."""
    if not rows:
        return ""
    parts = ["### Examples", "One item of each config: the prompt, and what counts as right."]
    for config, row in rows.items():
        parts.append(f"**{plain(config)}** ({plain(title_of(config))}; {code(row['id'])})")
        parts.append("\n".join(f"> {plain(line)}  " for line in _cut(row["prompt"]).splitlines()))
        parts.append(f"Right: {plain(_cut(_gold(row)))}")
    return "\n\n".join(parts)


def _gold(row: Mapping[str, Any]) -> str:
    if row["kind"] == "choice":
        return ", ".join(row["labels"][place] for place in row["gold"])
    if row["kind"] == "answer":
        return str(row["answer"])
    return " ".join([*row["explanations"], row["overall"] or ""]).strip()


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST].rstrip()} …"


def columns() -> str:
    """What each column of the data files holds."""
    rows = [(", ".join(code(one) for one in names.split(", ")), meaning) for names, meaning in COLUMNS]
    return f"### Columns\n\n{table(('column', 'what it holds'), rows)}"
