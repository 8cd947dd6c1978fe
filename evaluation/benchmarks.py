"""What results are joined to: a release, an audit, a benchmark as published, or what the results show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from mihakk.evaluation.adapters.audited import facts_of, labels_of
from mihakk.evaluation.incoming.given import AskedThere
from mihakk.evaluation.questions import MANIFEST, rows_of_release
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import digest, sha256
from mihakk.machinery.text.key import key
from mihakk.schemas.evaluation import Question
from mihakk.schemas.record import Language


class Benchmark(NamedTuple):
    """Questions, and by what a file of results can name them."""

    title: str
    questions: dict[str, Question]
    """By item, in the benchmark's order."""
    texts: Mapping[str, str]
    """Item to the words of its question."""
    names: Mapping[str, str]
    """The benchmark's own id to the item, where no other has it."""
    rows: Mapping[int, str]
    """Number of a row, from 0, to its item: a row that is no question has none."""

    @property
    def order(self) -> list[str]:
        """Items as the benchmark lists them."""
        return list(self.questions)


def named_by_item(title: str, questions: dict[str, Question], texts: Mapping[str, str] = {}) -> Benchmark:
    """A benchmark whose items go by their own names, one row each."""
    return Benchmark(title, questions, texts, {item: item for item in questions}, dict(enumerate(questions)))


def of_release(folder: Path, name: str, split: str, configs: Iterable[str] = ()) -> Benchmark:
    """The questions of a release."""
    rows = list(rows_of_release(folder, name, split, configs))
    questions = {question.item: question for question, _ in rows}
    texts = {question.item: str(row.get("question") or row.get("prompt") or "") for question, row in rows}
    return named_by_item(name or folder.name, questions, texts)


def of_folder_or_file(
    source: Path, mapping: str = "", *, language: Language = "ar", split: str = "test"
) -> Benchmark:
    """A release's folder, the folder of an audit, or a benchmark as published.

    Args:
        source: Where it lies.
        mapping: Which columns hold what, as `mihakk audit --map` takes it; what is proposed if empty.
        language: Of rows that name none.
        split: Of a release.

    Raises:
        UsageError: It is none of these, or its columns can't be told.
    """
    if (source / MANIFEST).is_file():
        return of_release(source, "", split)
    if (source / "audited.json").is_file():
        return _of_audit(source)
    return _of_file(source, mapping, language)


def _of_audit(folder: Path) -> Benchmark:
    """The rows of an audited set that passed."""
    from mihakk.evaluation.adapters.adapter import ADAPTERS

    rows = [row for _, row in ADAPTERS.get("audited").rows(folder)]
    if not rows:
        raise UsageError(f"{folder}: no row of the audited set passed")
    files = ADAPTERS.get("audited").files(folder)
    known = sha256("".join(sha256(path.read_bytes()) for path in files).encode())  # as a suite pins it
    return _of_items(rows[0][0], [item for _, item in rows], known, by_id=False)


def _of_file(source: Path, mapping: str, language: Language) -> Benchmark:
    from mihakk.validators.external.benchmark import read_benchmark
    from mihakk.validators.external.mapping import parse_mapping
    from mihakk.validators.external.proposal import propose_for

    mapping = mapping or propose_for(str(source)).settled()
    found = read_benchmark(str(source), parse_mapping(mapping), language=language)
    data = (
        source.read_bytes()
        if source.is_file()
        else b"".join(path.read_bytes() for path in sorted(source.rglob("*")) if path.is_file())
    )
    return _of_items(source.stem, list(found.items), sha256(data), by_id=True)


def _of_items(title: str, items: list[Any], known: str, *, by_id: bool) -> Benchmark:
    """Questions as an audited set asks them; `by_id` names them by their own ids, where these are unlike."""
    own = [item.metadata.get("id", "") for item in items]
    rows = [item.origin.records[0] for item in items]
    named = own if all(own) and len(set(own)) == len(own) else rows
    questions: dict[str, Question] = {}
    texts: dict[str, str] = {}
    names: dict[str, list[str]] = defaultdict(list)
    for item, name, given, row in zip(items, named, own, rows, strict=True):
        named_as, version = (name, "published") if by_id else (item.id, "audited")
        made = _question(facts_of(title, item), named_as, known, version)
        questions[made.item] = made
        texts[made.item] = item.question
        for one in {given, row, made.item} - {""}:
            names[one].append(made.item)
    single = {name: found[0] for name, found in names.items() if len(found) == 1}
    numbers = [row.rpartition("#")[2] for row in rows]
    one_table = all(one.isdecimal() for one in numbers) and len(set(numbers)) == len(numbers)
    places = map(int, numbers) if one_table else range(len(rows))
    return Benchmark(title, questions, texts, single, dict(zip(places, questions, strict=True)))


def _question(facts: dict[str, Any], item: str, known: str, version: str) -> Question:
    own = {"item": item, "digest": known, "group": item, "version": version}
    return Question.model_validate({**facts, **own})


def of_results(asked: Iterable[AskedThere], title: str, language: Language) -> Benchmark:
    """The questions that files of results show themselves, with the golds they name.

    Raises:
        UsageError: No record shows options and gold, or a right answer.
    """
    questions: dict[str, Question] = {}
    texts: dict[str, str] = {}
    met: dict[tuple[str, str], str] = {}
    for one in asked:
        if not (one.options and one.gold) and not one.answers:
            continue
        one.content_hash = one.content_hash or digest(
            [one.item, list(one.options), list(one.gold), list(one.answers)]
        )
        item = one.item or f"{one.config or title}#{one.index}"
        place = one.config, item
        if place not in met:
            # Two data sets may count their items alike.
            met[place] = item = item if item not in questions else f"{one.config}/{item}"
            questions[item] = _shown(one, item, title, language)
            texts[item] = one.text
        one.item = met[place]
    if not questions:
        raise UsageError(
            f"{title} shows no question with its options and gold: name the benchmark (--benchmark FILE, or "
            "--release)"
        )
    known = digest([question.content_hash for question in questions.values()])
    questions = {item: one.model_copy(update={"digest": known}) for item, one in questions.items()}
    return named_by_item(title, questions, texts)


def _shown(one: AskedThere, item: str, title: str, language: Language) -> Question:
    kind = "choice" if one.options else "answer"
    facts: dict[str, Any] = {
        **{
            "item": item,
            "content_hash": one.content_hash,
            "release": title,
            "version": "as shown",
            "digest": "",
        },
        **{"config": one.config or title, "task": f"external_{kind}", "kind": kind, "language": language},
        "group": item,
    }
    if one.options:
        # A prompt that we don't see shows Latin letters, but for Arabic ones.
        known = labels_of("ar" if language == "ar" else "en", len(one.options))
        facts |= {"options": one.options, "labels": one.labels or known, "gold": one.gold}
        facts["multiple"] = len(one.gold) > 1
    else:
        facts |= {"answer": one.answers[0], "accepted": one.answers[1:]}
    return Question.model_validate(facts)


def words(text: str) -> str:
    """The key that texts of questions are joined by, of any language."""
    return key(text, "ar") or " ".join(text.split())


def heads(text: str) -> Iterator[str]:
    """Keys of what may be the question in a prompt: all of it, then its lines from the last, bare of `Q:`."""
    yield words(text)
    for line in reversed(text.splitlines()):
        if line.strip():
            yield words(line)
            if ":" in line[:24]:
                yield words(line.partition(":")[2])
