"""Answers of systems that ran elsewhere, joined to questions, validated and counted."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from mihakk.evaluation.benchmarks import Benchmark, named_by_item
from mihakk.evaluation.incoming.given import Refused
from mihakk.evaluation.joining import Joined
from mihakk.evaluation.results import Reading, answers_of, open_results, rejection
from mihakk.machinery.errors import UsageError
from mihakk.schemas.evaluation import Answer, AnsweredBy, Question
from mihakk.schemas.rejection import Rejection


class Imported(NamedTuple):
    """Answers, records that are none, and the items that have no answer."""

    answers: dict[str, list[Answer]]
    """By system."""
    rejected: dict[str, list[Rejection]]
    """Likewise, one a record, with its number, item and reason; every record is one of these or an answer."""
    missing: dict[str, list[str]]
    """System to the items that it has no answer to; systems that answered all are left out."""
    joined: Joined
    refused: list[Refused]
    """What `rejected` holds, in the files' order."""

    def one_system(self) -> tuple[list[Answer], list[Rejection]]:
        """All answers and rejections, of whichever system."""
        return (
            [one for own in self.answers.values() for one in own],
            [one for own in self.rejected.values() for one in own],
        )


def import_results(
    paths: Sequence[Path],
    benchmark: Benchmark | Mapping[str, Question] | None,
    by: AnsweredBy | None = None,
    reading: Reading = Reading(),
) -> Imported:
    """The answers in files of any known format.

    A record that is no answer is rejected with its reason; so are all records that give the same answer
    twice, for nobody can tell which one counts.

    Args:
        paths: Files or folders of files.
        benchmark: What was asked, or its questions by item; the questions that the files show if None.
        by: Which revision answered, to which prompt.
        reading: What the files don't say.

    Raises:
        UsageError: A file can't be read or is of no known format, or no record is an answer.
    """
    if isinstance(benchmark, Mapping):
        first = next(iter(benchmark.values()))
        benchmark = named_by_item(first.release, dict(benchmark))
    joined = open_results(paths, reading, benchmark)
    found, bad = answers_of(joined, by)
    answers: dict[str, list[Answer]] = defaultdict(list)
    rejected: dict[str, list[Rejection]] = defaultdict(list)
    for answer in found:
        answers[answer.model].append(answer)
    source = ", ".join(path.name for path in paths)
    refused = [*joined.refused, *bad]
    for one in refused:
        rejected[one.system].append(rejection(one, source))
    if not found:
        told = next(iter(rejected.values()))
        raise UsageError(f"{source}: none of its {len(bad):,} lines is an answer; {told[0].detail}")
    order = joined.benchmark.order
    missing = {}
    for system, own in sorted(answers.items()):
        answered = {one.item for one in own}
        if left := [item for item in order if item not in answered]:
            missing[system] = left
    return Imported(dict(answers), dict(rejected), missing, joined, refused)
