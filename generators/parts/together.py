"""Wrong options of sealed questions about labels, such that no count of labels tells which option is right.

Works of as many labels as a question has options are put together, and each is asked with the labels of all.
So each label is right once among them, however uneven the labels are: whoever knows this rule, and goes by
how often an option is offered or is right elsewhere, finds as many as chance gives. Works that are left over
are not asked: those of labels that are commoner than the others allow.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeVar

from mihakk.generators.corpus import salt
from mihakk.generators.corpus_rows import CorpusFacts, Phrase
from mihakk.generators.task import Context, Skip

Row = TypeVar("Row", CorpusFacts, Phrase)
Label = TypeVar("Label", bound=Hashable)


def companions(
    ctx: Context[Any],
    record: str,
    rows: Sequence[Row],
    *,
    count: int,
    label: Callable[[Row], Label | None],
    apart: Callable[[Label, Label], bool],
) -> tuple[Row, ...]:
    """The works whose labels are the wrong options of a sealed question.

    Args:
        record: The poem or idiom it asks about.
        rows: What else could be asked about, with it.
        count: Options of a question.
        label: What is asked for; None of a work that is not asked about.
        apart: Whether one label can't be right where the other is.

    Raises:
        Skip: It stands with no others.
    """
    known = ctx.corpus.together
    name = ctx.task, rows[0].language if rows else ""
    if name not in known:
        asked = [row for row in rows if ctx.drawn is None or row.id in ctx.drawn]
        known[name] = _together(ctx, asked, count, label, apart)
    if record not in known[name]:
        raise Skip("too_uneven_labels")
    return tuple(row for row in known[name][record] if row.id != record)


def _together(
    ctx: Context[Any],
    rows: Sequence[Row],
    count: int,
    label: Callable[[Row], Label | None],
    apart: Callable[[Label, Label], bool],
) -> dict[str, tuple[Row, ...]]:
    """Work to those it stands with, itself included; the labels that most works bear take theirs first."""
    waiting: dict[Label, list[Row]] = defaultdict(list)
    for row in sorted(rows, key=lambda row: salt(ctx.build_seed, f"{row.id}\x1ftogether")):
        if (name := label(row)) is not None:
            waiting[name].append(row)
    found: dict[str, tuple[Row, ...]] = {}
    labels = list(waiting)
    while labels:
        labels.sort(key=lambda name: -len(waiting[name]))
        first, *others = labels
        chosen = _exclusive([first], [name for name in others if apart(first, name)], count, apart)
        works = tuple(waiting[name].pop() for name in chosen)
        found |= dict.fromkeys((work.id for work in works), works)
        # What stands with no others now never will: labels only grow fewer.
        labels = [name for name in labels if waiting[name] and (chosen or name != first)]
    return found


def _exclusive(
    chosen: list[Label], others: list[Label], count: int, apart: Callable[[Label, Label], bool]
) -> list[Label]:
    """The first `count` labels, with those chosen, each of which excludes the others; empty: none."""
    if len(chosen) == count:
        return chosen
    while len(chosen) + len(others) >= count:
        name, *others = others
        if some := _exclusive([*chosen, name], [one for one in others if apart(name, one)], count, apart):
            return some
    return []
