"""The questions of a suite's part as they are put to a system: prompt, wording, repeat."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from mihakk.evaluation.adapters.adapter import (
    ADAPTERS,
    PUBLISHED,
    UNCHECKED,
    Published,
    filled,
    published_prompts,
)
from mihakk.evaluation.declared_labels import (
    NONE,
    named,
    relabelled,
    require_readable,
    with_labels,
)
from mihakk.evaluation.questions import MANIFEST, rows_of_release
from mihakk.evaluation.running.probes import VERSION as PROBES
from mihakk.evaluation.running.probes import canary_probe, probes_of
from mihakk.evaluation.running.wordings import FORMS, WORDINGS, in_form, reworded
from mihakk.machinery.errors import SourceChanged, UsageError
from mihakk.machinery.ids import sha256
from mihakk.machinery.sandbox import require_sandbox
from mihakk.machinery.seeds import rng
from mihakk.schemas.evaluation import AnswerKind, Question
from mihakk.schemas.suite import OptionLabels, Part, Suite, System
from mihakk.scrapers.tables import read_rows

Fetch = Callable[[str], tuple[Path, str]]
"""A release as a suite names it -> its folder, and its name where the folder does not say it."""
OWN: Final = "release"
"""Name of the prompt that a release's item carries."""


class Asked(NamedTuple):
    """One question in one wording."""

    question: Question
    prompt: str
    template: str
    """Name of the prompt template."""
    template_version: str
    wording: int
    repeats: int
    system: str = ""
    """System prompt."""
    shots: str = ""
    """Questions with their answers that stand above the question."""

    @property
    def name(self) -> str:
        """Names the sample in logs."""
        return f"{self.question.config}/{self.question.item}/{self.wording}"

    @property
    def message(self) -> str:
        """What the user says: the question below its shots."""
        return self.shots + self.prompt

    @property
    def whole(self) -> str:
        """All that is said, as one text."""
        return f"{self.system}\n\n{self.message}" if self.system else self.message


def asked_of_suite(suite: Suite, fetch: Fetch, limit: int | None = None) -> list[Asked]:
    """Everything a suite asks, part by part; `limit` takes the place of the parts' own `sample`.

    Raises:
        UsageError: A part is not there, is not pinned, or is not what its digest says.
    """
    found = []
    for part in suite.parts:
        sample = part.sample if limit is None else limit
        own = _adapted(part, suite) if part.adapter else _released(part, suite, fetch)
        require_readable(part.labels)
        if part.labels:
            own = (_labelled(one, part.labels) for one in own)
        if part.orders == "drawn":
            own = (one for one in own if _in_drawn_order(one.question, suite.seed))
        found += list(_drawn(_introduced(own, part, suite, fetch), sample, suite.seed))
    names = set()
    for one in found:
        if one.name in names:
            raise UsageError(f"{suite.name}: two parts ask {one.question.item}: name each item once")
        names.add(one.name)
    return found


def sealed_items(suite: Suite, fetch: Fetch) -> frozenset[str]:
    """Items of blind splits among the suite's parts, whatever somebody scored them with."""
    import pyarrow.parquet as pq

    found: set[str] = set()
    for part in suite.parts:
        if not part.release:
            continue
        folder, _ = fetch(part.release)
        for path in sorted(folder.glob(f"*/{part.split}-*-of-*.parquet")):
            table = pq.read_table(path, columns=["id", "sealed"]).to_pydict()
            found |= {name for name, shut in zip(table["id"], table["sealed"], strict=True) if shut}
    return frozenset(found)


def questions_of(asked: Iterable[Asked]) -> dict[str, Question]:
    """The questions by item, as scoring wants them."""
    return {one.question.item: one.question for one in asked}


def reply_tokens(suite: Suite, system: System, kind: AnswerKind) -> int:
    """How long a system's reply may be."""
    return int(getattr(suite.reply_tokens, kind)) + system.reasoning_tokens


def _released(part: Part, suite: Suite, fetch: Fetch) -> Iterator[Asked]:
    if suite.pinned and part.release.endswith("@latest"):
        raise UsageError(f"{suite.name}: {part.release} names no version; a pinned suite needs one")
    folder, name = fetch(part.release)
    if not (folder / MANIFEST).is_file():
        raise UsageError(f"{folder} is not a release: it has no {MANIFEST}")
    _pinned(part, suite, part.release, sha256((folder / MANIFEST).read_bytes()))
    met: set[str] = set()
    canary = "canary" in part.probes
    for question, row in rows_of_release(folder, name, part.split):
        met |= {question.task, question.config}
        if part.only and not {question.task, question.config} & set(part.only):
            continue
        if part.languages and question.language not in part.languages:
            continue
        if part.forms:
            name = f"{part.forms}_forms"  # in our words, unlike the adapter of that name
            yield Asked(question, in_form(question, row), name, FORMS.version, 0, part.repeats)
        else:
            text, name = _own_prompt(row, part)
            yield Asked(question, text, name, question.version, 0, part.repeats)
        if canary and row.get("canary"):
            canary = False
            yield Asked(*canary_probe(question, row["canary"], folder / "README.md"), "probes", PROBES, 0, 1)
        for probe, text in probes_of(question, row, part.probes, suite.seed):
            yield Asked(probe, text, "probes", PROBES, 0, 1)
        for wording in range(1, part.wordings):
            text = reworded(question, row, wording)
            yield Asked(question, text, "wordings", WORDINGS.version, wording, part.repeats)
    _all_met(part.only, met, part.release)


def _labelled(one: Asked, labels: OptionLabels) -> Asked:
    """A question under declared labels, which its prompt's name tells."""
    question = with_labels(one.question, labels)
    if question is one.question:
        return one
    prompt = relabelled(one.prompt, one.question, question, one.template, bare=labels == NONE)
    return one._replace(question=question, prompt=prompt, template=one.template + named(labels))


def _introduced(asked: Iterator[Asked], part: Part, suite: Suite, fetch: Fetch) -> Iterator[Asked]:
    """Questions with the part's system prompt and shots; probes stay as they are."""
    if not part.shots and not part.system:
        yield from asked
        return
    system = part.system
    if system.endswith(".txt"):
        system = _user_file(system, suite, "system prompt").read_text(encoding="utf-8").strip()
    shots = _shots(part, suite, fetch) if part.shots else {}
    named = f"+{part.shots}-shot" * bool(part.shots) + "+system" * bool(system)
    for one in asked:
        if one.question.ability == "probe":
            yield one
            continue
        own = shots.get(one.question.config) or shots.get(one.question.task) or shots.get("", [])
        if len(own) < part.shots:
            raise UsageError(
                f"{suite.name}: {part.shots} shots are asked for, and there are {len(own)} for "
                f"{one.question.config}: lower `shots`, or add lines to `examples`"
            )
        above = "".join(f"{shot}\n\n" for shot in own[: part.shots])
        yield one._replace(template=one.template + named, system=system, shots=above)


def _shots(part: Part, suite: Suite, fetch: Fetch) -> dict[str, list[str]]:
    """Config or task, empty where a line names none, to its examples: of the dev split, or of a file."""
    found: dict[str, list[str]] = {}
    if part.examples:
        path = _user_file(part.examples, suite, "examples")
        for line in read_rows(path):
            if line.problem or not {"prompt", "reply"} <= line.fields.keys():
                raise UsageError(f"{path}, row {line.number}: an example has a `prompt` and a `reply`")
            text = f"{line.fields['prompt']}{line.fields['reply']}"
            found.setdefault(line.fields.get("task") or "", []).append(text)
        return found
    folder, name = fetch(part.release)
    for question, row in rows_of_release(folder, name, "dev"):
        if question.kind not in ("choice", "answer"):
            raise UsageError(
                f"{suite.name}: a dev split gives no shots for {question.kind}s: name `examples`"
            )
        prompt, asked = row["prompt"], with_labels(question, part.labels)
        if asked is not question:
            prompt = relabelled(prompt, question, asked, OWN, bare=part.labels == NONE)
        reply = ", ".join(asked.labels[place] for place in asked.gold)
        if question.kind == "answer":
            reply = f"<answer>{question.answer}</answer>"
        found.setdefault(question.config, []).append(prompt + reply)
    return found


def _user_file(named: str, suite: Suite, what: str) -> Path:
    path = Path(os.path.expandvars(named))
    if not path.is_file():
        raise UsageError(f"{suite.name}: there is no file {path} with the {what}")
    return path


def _own_prompt(row: Mapping[str, Any], part: Part) -> tuple[str, str]:
    """The release's prompt in the language that the part asks for, and its name in results."""
    language = part.prompt_language
    if language is None:
        return row["prompt"], OWN
    found = row.get("prompts") or {}
    if not found.get(language):
        has = ", ".join(sorted(found)) or "no column `prompts`"
        raise UsageError(
            f"{part.release}: no prompts in {language!r}; it has {has}: take `prompt_language` out of the "
            "suite, or name the language under `prompt_languages` in the benchmark's config and release anew"
        )
    return found[language], f"{OWN}_{language}"


def _adapted(part: Part, suite: Suite) -> Iterator[Asked]:
    if part.wordings > 1:
        raise UsageError(f"{suite.name}: an adapter asks a published benchmark in one wording: `wordings: 1`")
    data = Path(os.path.expandvars(part.data))
    if "$" in str(data) or not data.is_dir():
        raise UsageError(
            f"{suite.name}: there is no folder {data} with the files of {part.adapter}; "
            "put them there or set the variable it names"
        )
    adapter = ADAPTERS.get(part.adapter)
    files = adapter.files(data)
    if not files:
        raise UsageError(f"{suite.name}: {data} holds no file that the adapter {part.adapter} reads")
    digest = hashlib.sha256()
    for path in files:
        digest.update(sha256(path.read_bytes()).encode())
    _pinned(part, suite, str(data), digest.hexdigest())
    theirs = {}
    if part.protocol == "published":
        theirs = published_prompts(adapter, Path(os.path.expandvars(part.prompts)))
    met = set()
    for one in _readable(adapter.read(data, digest.hexdigest()), suite):
        met |= {one.question.task, one.question.config}
        if one.question.kind == "code":
            require_sandbox(suite.code_memory)
        if not part.only or {one.question.task, one.question.config} & set(part.only):
            prompt, template = one.prompt, part.adapter
            if one.question.task in theirs:
                prompt = filled(theirs[one.question.task], one.fields)
                known = adapter.published[one.question.task]
                template = part.adapter + PUBLISHED + ("" if known else UNCHECKED)
            yield Asked(one.question, prompt, template, adapter.version, 0, part.repeats)
    if not met:
        raise UsageError(f"{suite.name}: the files of {part.adapter} in {data} hold no question")
    _all_met(part.only, met, part.adapter)


def _readable(rows: Iterable[Published], suite: Suite) -> Iterator[Published]:
    """Rows of a published benchmark; the fault of one is the fault of the folder that the suite names."""
    try:
        yield from rows
    except SourceChanged as error:
        raise UsageError(f"{suite.name}: {error}") from error


def _pinned(part: Part, suite: Suite, what: str, found: str) -> None:
    """Refuses data that are not those the suite's figures belong to."""
    if suite.pinned and not part.digest:
        raise UsageError(f"{suite.name}: {what} is not pinned; write `digest: {found}` beside it")
    if part.digest and part.digest != found:
        raise UsageError(
            f"{suite.name}: {what} is not what the suite was made for (digest {part.digest[:12]}, found "
            f"{found[:12]}): get that version, or make a new suite with `digest: {found}`"
        )


def _all_met(only: Iterable[str], met: set[str], what: str) -> None:
    if missing := sorted(set(only) - met):
        raise UsageError(f"{what} has no task or config {missing[0]!r}; it has: {', '.join(sorted(met))}")


def _drawn(asked: Iterable[Asked], sample: int | None, seed: int) -> Iterator[Asked]:
    """So many questions of each config, both orders of a pair together, in the order they came."""
    everything = list(asked)
    if sample is None:
        yield from everything
        return
    chosen: dict[str, set[str]] = {}
    for config in {one.question.config for one in everything}:
        units = {_unit(one.question) for one in everything if one.question.config == config}
        chosen[config] = set(sorted(units, key=lambda unit: sha256(f"{seed} {unit}".encode()))[:sample])
    yield from (one for one in everything if _unit(one.question) in chosen[one.question.config])


def _in_drawn_order(question: Question, seed: int) -> bool:
    """Whether a question has the order that is drawn for its pair; true of those without another order."""
    return not question.pair_id or question.order == rng(seed, question.pair_id, "order").randrange(2)


def _unit(question: Question) -> str:
    """What is drawn as one: a probe goes with its item's record, so that twins are drawn together."""
    if question.ability == "probe" and not question.pair_id:
        return question.slices.get("record", question.item)
    return question.pair_id or question.item


def sizes(asked: Iterable[Asked]) -> Mapping[str, int]:
    """Config to number of calls."""
    counts: Counter[str] = Counter()
    for one in asked:
        counts[f"{one.question.release}/{one.question.config}"] += one.repeats
    return counts
