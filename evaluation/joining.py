"""Records of result files joined to the questions of a benchmark, with what did not join and why."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, Literal, NamedTuple, get_args

from mihakk.evaluation.benchmarks import Benchmark, heads, words
from mihakk.evaluation.incoming.given import AskedThere, Given, Refused
from mihakk.machinery.errors import RecordRejected, UsageError
from mihakk.schemas.evaluation import Question
from mihakk.validators.external.golds import ways

JoinBy = Literal["auto", "id", "text", "order"]
_AGREE: Final = 0.9
"""Share of the questions that must read alike, and of the golds that must be the same, for a join to hold."""
_FEWEST: Final = 20
"""Golds that must agree for rows to be joined by their order; all of them where there are fewer."""
RIGHT, WRONG = "1", "0"
"""Replies that stand for an answer of which only that is known."""
_JUDGED: Final = ("right", "wrong")


def says_only_right(question: Question) -> bool:
    """Whether results say of its answers only that they are right or wrong, not which they are."""
    return question.labels == (RIGHT, WRONG) and question.options == _JUDGED


class Agreement(NamedTuple):
    """What a file of results says is right, compared with the benchmark that it was joined to."""

    what: str
    """`golds`, or `right answers` where the file only says which answers were right."""
    agree: int
    of: int

    @property
    def share(self) -> float:
        """From 0 to 1."""
        return self.agree / self.of


class Joined(NamedTuple):
    """What joined, and what did not."""

    answers: list[tuple[Question, Given]]
    refused: list[Refused]
    by: JoinBy
    """How: by id, by the question's words, or by the order of rows."""
    benchmark: Benchmark
    """With questions that say only right or wrong, where the results do."""
    agreement: Agreement | None = None
    """How far the file's own word on what is right supports the join; None where it says nothing."""

    @property
    def systems(self) -> list[str]:
        """All systems that have an answer."""
        return sorted({given.system for _, given in self.answers})

    def missing(self) -> dict[str, list[str]]:
        """System to the items that it has no answer to."""
        answered: dict[str, set[str]] = defaultdict(set)
        for question, given in self.answers:
            answered[given.system].add(question.item)
        order = self.benchmark.order
        return {
            system: [item for item in order if item not in items]
            for system, items in sorted(answered.items())
            if len(items) < len(order)
        }


def join(records: Iterable[Given | Refused], benchmark: Benchmark, by: JoinBy = "auto") -> Joined:
    """Joins records to questions by id, by the question's words, or by the order of rows.

    Left to itself it takes the id where half of the records or more join by it and their questions read
    alike, else the words. Rows are joined by their order only if the file has neither ids nor questions, as
    many rows as the benchmark, and golds or right answers that are the benchmark's. Where a file names these,
    every join is held against them.

    Args:
        records: Of one file or of several.
        benchmark: What was asked.
        by: How; `auto` measures.

    Raises:
        UsageError: Nothing joins, ids join questions that read otherwise, nothing shows that rows stand in
            the benchmark's order, or the file's golds are not the benchmark's.
    """
    if by not in get_args(JoinBy):
        raise UsageError(f"join is {by!r}: it must be one of {', '.join(get_args(JoinBy))}")
    given: list[Given] = []
    refused: list[Refused] = []
    places: dict[int, int] = {}
    for record in records:
        places.setdefault(id(record.asked), len(places))
        if isinstance(record, Refused):
            refused.append(record)
        else:
            given.append(record)
    asked = list({id(one.asked): one.asked for one in given}.values())
    index = _Index(benchmark)
    chosen = _how(asked, index) if by == "auto" else by
    found: dict[int, Question | RecordRejected] = {id(one): index.find(one, chosen) for one in asked}
    answers = []
    for one in given:
        question = found[id(one.asked)]
        if isinstance(question, RecordRejected):
            refused.append(Refused(one.asked, one.system, question))
        else:
            answers.append((question, one))
    twice = _twice(answers)
    if twice:
        kept = []
        for pair in answers:
            if _key(pair) in twice:
                detail = (
                    f"{pair[0].item} is answered twice: number repeats by `repeat`, wordings by `variant`"
                )
                problem = RecordRejected("answered_twice", detail)
                refused.append(Refused(pair[1].asked, pair[1].system, problem))
            else:
                kept.append(pair)
        answers = kept
    refused.sort(key=lambda one: places[id(one.asked)])
    agreement = agreement_of(answers)
    if by == "auto":
        _require_support(chosen, agreement, len(answers))
    return _right_or_wrong(Joined(answers, refused, chosen, benchmark, agreement))


def _require_support(chosen: JoinBy, agreement: Agreement | None, count: int) -> None:
    """Refuses a join that the file's own golds speak against, and one by order that nothing speaks for."""
    if agreement and agreement.share < _AGREE:
        how = {"id": "by their ids", "text": "by the questions' words", "order": "by their order"}[chosen]
        raise UsageError(
            f"joined {how}, the file's own {agreement.what} agree with the benchmark's in only "
            f"{agreement.agree:,} of {agreement.of:,} rows: its rows or its options stand in another order, "
            "or it is of another version. Name the column that holds the benchmark's ids (--id, and id= in "
            f"--map); where the golds really differ, say --join {chosen}"
        )
    if chosen == "order" and (agreement is None or agreement.of < min(_FEWEST, count)):
        raise UsageError(
            "the records have neither ids nor questions, and nothing in them shows that their rows stand in "
            "the benchmark's order: name the column of ids (--id), or say --join order if they do"
        )


def agreement_of(answers: Sequence[tuple[Question, Given]]) -> Agreement | None:
    """How often the golds that a file names are the benchmark's, or, without, its right answers are.

    Golds may be labels of any alphabet, places from 0 or from 1, or words: the reading that agrees best is
    taken, as one that is wrong agrees by chance.
    """
    told = {id(given.asked): (given.asked.key, question) for question, given in answers if given.asked.key}
    rows = [(key, one) for key, one in told.values() if len(one.gold) == 1 and one.options]
    compared: set[int] = set()
    best = 0
    for golds in ways():
        read = [golds.read(key, one.options, one.language, one.labels) for key, one in rows]
        compared |= {place for place, found in enumerate(read) if found is not None}
        best = max(best, sum(found == one.gold for found, (_, one) in zip(read, rows, strict=True)))
    if compared:
        return Agreement("golds", best, len(compared))
    judged = [
        (right == 1.0) == ((given.pick,) == question.gold)
        for question, given in answers
        if given.pick is not None and len(question.gold) == 1
        for right in given.own.values()
    ]
    return Agreement("right answers", sum(judged), len(judged)) if judged else None


def _key(pair: tuple[Question, Given]) -> tuple[str, str, bool, int, int]:
    question, given = pair
    more = given.more
    compared = bool(given.likelihoods or more.get("likelihoods"))
    return question.item, given.system, compared, more.get("variant", 0), more.get("repeat", 0)


def _twice(answers: Sequence[tuple[Question, Given]]) -> set[tuple[str, str, bool, int, int]]:
    """Keys of answers given twice: of items that several records ask, as one record numbers its repeats."""
    records = {(id(given.asked), question.item) for question, given in answers}
    shared = {item for item, count in Counter(item for _, item in records).items() if count > 1}
    counts = Counter(_key(pair) for pair in answers if pair[0].item in shared) if shared else Counter()
    return {key for key, count in counts.items() if count > 1}


class _Index:
    """By what questions are found."""

    def __init__(self, benchmark: Benchmark) -> None:
        self.benchmark = benchmark
        self.order = benchmark.order
        self._texts: dict[str, list[str]] | None = None

    @property
    def texts(self) -> dict[str, list[str]]:
        """Key of a question's words, or of its last line, to its items."""
        if self._texts is None:
            self._texts = defaultdict(list)
            for item, text in self.benchmark.texts.items():
                lines = [line for line in text.splitlines() if line.strip()]
                for name in {words(text), words(lines[-1]) if lines else ""} - {""}:
                    self._texts[name].append(item)
        return self._texts

    def find(self, asked: AskedThere, by: JoinBy) -> Question | RecordRejected:
        """The question behind a record, or why there is none."""
        item, problem = getattr(self, f"_by_{by}")(asked)
        if not item:
            return RecordRejected(*problem)
        question = self.benchmark.questions[item]
        if asked.content_hash and asked.content_hash != question.content_hash:
            detail = f"{item} was asked from another version of {question.release}"
            return RecordRejected("other_version", detail)
        if self._in_another_order(asked.options, question):
            detail = f"{item} has the same options in another order, so its labels and places mean others"
            return RecordRejected("other_order", detail)
        return question

    def _in_another_order(self, options: Sequence[str], question: Question) -> bool:
        if len(options) != len(question.options) or options == question.options:
            return False
        there, here = [words(one) for one in options], [words(one) for one in question.options]
        return there != here and sorted(there) == sorted(here)

    def _by_id(self, asked: AskedThere) -> tuple[str, tuple[str, str]]:
        names = self.benchmark.names
        item = names.get(asked.item, "") or names.get(asked.item.strip(), "")
        count = len(self.benchmark.questions)
        return item, ("unknown_item", f"there is no item {asked.item!r} among the {count:,} questions")

    def _by_order(self, asked: AskedThere) -> tuple[str, tuple[str, str]]:
        item = "" if asked.index is None else self.benchmark.rows.get(asked.index, "")
        return item, ("unknown_item", f"row {asked.index} is none of the {len(self.order):,} questions")

    def _by_text(self, asked: AskedThere) -> tuple[str, tuple[str, str]]:
        if not asked.text:
            return "", ("unknown_item", "the record shows no question")
        for name in heads(asked.text):
            if found := self.texts.get(name):
                return self._one_of(found, asked)
        shown = " ".join(asked.text.split())[-60:]
        return "", ("unknown_item", f"no question of the {len(self.order):,} reads like «...{shown}»")

    def _one_of(self, found: Sequence[str], asked: AskedThere) -> tuple[str, tuple[str, str]]:
        """The one of several questions in the same words that has the record's options."""
        if len(found) > 1 and asked.options:
            options = [words(one) for one in asked.options]
            questions = self.benchmark.questions
            found = [item for item in found if [words(one) for one in questions[item].options] == options]
        if len(found) == 1:
            return found[0], ("", "")
        detail = f"its words are those of several questions: {', '.join(found[:4]) or 'with other options'}"
        return "", ("ambiguous_text", detail)


def _how(asked: Sequence[AskedThere], index: _Index) -> JoinBy:
    """How the records join best, by trying."""
    sample = asked[:: max(1, len(asked) // 2000)]
    by_id = [(one, item) for one in sample if one.item and (item := index.find(one, "id"))]
    joined = [(one, q) for one, q in by_id if isinstance(q, Question)]
    unlike = _unlike(joined, index)
    if 2 * len(joined) >= len(sample) and joined and not unlike:
        if not any(one.text for one in sample) and _are_rows({one.item for one in asked}, index):
            raise UsageError(
                "the ids count from 0, as rows do, and the benchmark's from 1: say whether they are numbers "
                "of rows or ids (--join order or --join id)"
            )
        return "id"
    if any(one.text for one in sample):
        hits = sum(isinstance(index.find(one, "text"), Question) for one in sample)
        if hits:
            return "text"
    if unlike:
        raise UsageError(f"the ids are those of other questions: {unlike}; name the benchmark they are of")
    if joined or any(one.item for one in sample):
        return "id"
    rows = {one.index for one in asked}
    if None not in rows and len(rows) in (len(index.order), max(index.benchmark.rows) + 1):
        return "order"
    raise UsageError(
        f"the records have neither ids nor questions, and {len(rows):,} rows are not the "
        f"{len(index.order):,} of the benchmark: nothing says which is which"
    )


def _are_rows(ids: set[str], index: _Index) -> bool:
    """Whether ids are the numbers from 0 on, and the benchmark's those from 1 on."""
    names, count = index.benchmark.names, len(ids)
    return "0" not in names and str(count) in names and ids == {str(number) for number in range(count)}


def _unlike(joined: Sequence[tuple[AskedThere, Question]], index: _Index) -> str:
    """An example where most questions joined by id read otherwise than the records; empty if they do not."""
    shown = [(one, question) for one, question in joined if one.text]
    bad = [
        (one, question)
        for one, question in shown
        if words(index.benchmark.texts.get(question.item, "")) not in words(one.text)
    ]
    if not shown or len(bad) <= (1 - _AGREE) * len(shown):
        return ""
    one, question = bad[0]
    there = " ".join(one.text.split())[-60:]
    here = " ".join(index.benchmark.texts.get(question.item, "").split())[:60]
    return f"{one.item} is «...{there}» there and «{here}» here"


def _right_or_wrong(joined: Joined) -> Joined:
    """Results that say only who was right: questions whose two answers are right and wrong."""
    said = {given.correct is not None for _, given in joined.answers}
    if True not in said:
        return joined
    if len(said) > 1:
        raise UsageError(
            "some results say what was answered and others only whether it was right: import them apart"
        )
    known = joined.benchmark
    questions = {
        item: question.model_copy(
            update={"kind": "choice", "options": _JUDGED, "labels": (RIGHT, WRONG), "gold": (0,)}
            | {"multiple": False, "option_kinds": (), "answer": "", "accepted": (), "overall": ""}
            | {"verses": (), "explanations": ()}
        )
        for item, question in known.questions.items()
    }
    answers = [
        (questions[question.item], given._replace(reply=RIGHT if given.correct else WRONG))
        for question, given in joined.answers
    ]
    return joined._replace(answers=answers, benchmark=known._replace(questions=questions))


def unjoined(refused: Iterable[Refused]) -> Iterator[tuple[str, str, int, str]]:
    """System, reason, how many, and an example, of all records that did not join, the most first."""
    groups: dict[tuple[str, str], list[Refused]] = defaultdict(list)
    for one in refused:
        groups[one.system, one.problem.reason].append(one)
    for (system, reason), own in sorted(groups.items(), key=lambda pair: (-len(pair[1]), pair[0])):
        yield system, reason, len(own), f"{own[0].asked.where}: {own[0].problem.detail}"
