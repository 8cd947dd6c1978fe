"""Which columns of an unknown table hold what, from their names and from their values, with the evidence."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

from mihakk.machinery.errors import UsageError
from mihakk.schemas.record import Language, Record
from mihakk.validators.external.cells import blank, is_dict, listed, options_in, shown
from mihakk.validators.external.golds import infer
from mihakk.validators.external.mapping import escaped
from mihakk.validators.external.table import FORMATS, Table, read_tables
from mihakk.validators.truth import says_truth

SAMPLE = 2000
"""Rows that are looked at."""
LEAST_FIT = 0.8
"""Share of the golds that must name an option."""
LONG = 40
"""Characters of a header cell from which it reads like a row."""
Role = Literal["question", "gold", "context", "id", "subset", "split", "language", "choices"]
NAMES: dict[Role, tuple[str, ...]] = {
    "question": (
        *("question", "q", "query", "stem", "statement", "prompt", "sentence", "instruction", "input"),
        *("ctx", "premise", "goal", "problem"),
        *("سوال", "نص السوال", "عباره", "پرسش"),
    ),
    "gold": (
        *("answer key", "answerkey", "gold", "answer", "correct answer", "correct", "label", "target", "key"),
        *("correct option", "correct choice", "output", "answer idx", "ground truth", "answers"),
        *("completion", "ideal", "targets", "reference", "reference answer", "correct answers"),
        *("اجابه", "جواب", "الاجابه الصحيحه", "الجواب الصحيح", "الاجابه النموذجيه", "الخيار الصحيح"),
        *("پاسخ", "پاسخ صحيح", "گزينه صحيح"),
    ),
    "context": (
        *("context", "passage", "paragraph", "document", "article", "poem", "story"),
        *("سياق", "نص", "متن"),
    ),
    "id": ("id", "qid", "question id", "uid", "guid", "idx", "index", "#"),
    "subset": ("subject", "subset", "category", "topic", "domain", "task", "field", "group", "country"),
    "split": ("split", "partition"),
    "language": ("language", "lang", "locale"),
    "choices": ("choices", "options", "endings", "alternatives", "candidates", "خيارات", "گزینه ها"),
}
_OPTION = re.compile(
    r"^(?P<stem>(?:option|choice|opt|answer|ending|alternative|distractor|الخيار|خيار|گزينه)?)[\s_.-]*"
    r"(?P<mark>[a-h]|\d|[ابجدهو])$"
)
_FAMILY = re.compile(
    r"^(?P<stem>.{0,99}?\w)(?:(?P<number>[\s_.-]{0,9}\d)|[\s_.-]{1,9}(?P<letter>[a-h]|[ابجدهو]))$"
)
"""Columns that differ in a number or letter alone, whatever they are called: `sol1`, `sol2`."""
_NUMBERED = re.compile(r"^(.+?)([-_ .])\d+$")


class Guess(Record):
    """One part of a proposed mapping."""

    what: str
    """The key of the mapping."""
    columns: tuple[str, ...]
    evidence: str


class Proposal(Record):
    """A mapping for a table that nobody has described."""

    table: str
    rows: int
    guesses: tuple[Guess, ...]
    notes: tuple[str, ...] = ()
    """What a person should look at: further columns, sheets and files."""

    @property
    def mapping(self) -> str:
        """As `--map` takes it."""
        return ",".join(f"{guess.what}={'+'.join(map(escaped, guess.columns))}" for guess in self.guesses)


def propose_for(source: str) -> Proposal:
    """The proposal for a file or folder.

    Raises:
        UsageError: There is no table, or no column reads like a question or like an answer.
    """
    path = Path(source)
    if path.is_dir():
        paths = [one for one in sorted(path.rglob("*")) if one.suffix.lower() in FORMATS and one.is_file()]
    elif path.is_file() or path.suffix.lower() in FORMATS:
        paths = [path]
    else:
        raise UsageError(
            f"{source} is not a file or folder: for a dataset on the Hub name the columns with --map"
        )
    tables: list[Table] = []
    notes: list[str] = []
    for one in paths:
        try:
            tables += read_tables(one, one.relative_to(path).as_posix() if path.is_dir() else "")
        except UsageError as error:
            if not path.is_dir():
                raise
            notes.append(str(error))
    if not tables:
        raise UsageError(f"{source} holds no table: give {', '.join(FORMATS)}")
    shapes = Counter[tuple[str, ...]]()
    for table in tables:
        shapes[table.columns] += len(table.rows)
    problem: UsageError | None = None
    for columns, _ in shapes.most_common():
        mine = [table for table in tables if table.columns == columns]
        others = [
            f"{table.name} has other columns: {', '.join(table.columns[:8])}"
            for table in tables
            if table.columns != columns
        ]
        first = mine[0]
        headed = not _headerless(first) or first.file is None
        if not headed and first.file is not None:
            mine = read_tables(first.file, first.name, header=False)
        try:
            return propose(mine[0], mine, [*notes, *others], header=headed)
        except UsageError as error:
            problem = problem or UsageError(f"{first.name}: {error}")
    raise problem or UsageError(f"{source} holds no table")


def propose(table: Table, tables: Sequence[Table], notes: Sequence[str], *, header: bool = True) -> Proposal:
    """The proposal for tables of the same columns."""
    rows = [row for one in tables for row in one.rows.values()][:SAMPLE]
    look = _Look(table.columns, rows)
    guesses = list(look.guesses())
    if not header:
        guesses.append(
            Guess(what="header", columns=("no",), evidence="the first line reads like a row, not like names")
        )
    used = {name for guess in guesses for name in guess.columns}
    rest = [name for name in table.columns if name not in used]
    said = [*look.notes, *notes]
    if rest:
        said.append(f"not used: {', '.join(rest)}")
    total = sum(len(one.rows) for one in tables)
    return Proposal(table=table.name, rows=total, guesses=tuple(guesses), notes=tuple(said))


class _Look:
    """What the values of a sample say of each column."""

    def __init__(self, columns: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
        self.columns, self.rows = list(columns), rows
        self.notes: list[str] = []
        self.values = {name: [row.get(name) for row in rows] for name in columns}
        self.filled = {name: [v for v in self.values[name] if not blank(v)] for name in columns}
        self.language: Language = "ar"

    def guesses(self) -> Iterator[Guess]:
        choices, why = self._choices()
        try:
            gold, gold_why, scheme = self._gold(choices)
        except UsageError:
            if len(choices) != 1 or _named(choices[0], "choices"):
                raise
            choices = ()  # a list of something else
            gold, gold_why, scheme = self._gold(choices)
        if not choices:
            choices, why, gold, gold_why, scheme = self._family() or (choices, why, gold, gold_why, scheme)
        taken = {*choices, gold}
        question, question_why = self._question(taken)
        yield Guess(what="question", columns=(question,), evidence=question_why)
        if choices:
            yield Guess(what="choices", columns=choices, evidence=why)
        yield Guess(what="gold", columns=(gold,), evidence=gold_why)
        if scheme:
            yield Guess(
                what="gold_as", columns=(scheme,), evidence="counting from 0 and from 1 both fit: look"
            )
        taken.add(question)
        yield from self._facts(taken)

    def _choices(self) -> tuple[tuple[str, ...], str]:
        families: dict[str, list[str]] = {}
        for name in self.columns:
            found = _OPTION.match(_plain(name))
            if found:
                families.setdefault(found["stem"], []).append(name)
        best = max(families.values(), key=len, default=[])
        if sum(bool(self.filled[name]) for name in best) >= 2:
            return tuple(best), f"{len(best)} columns named like options, {self._example(best[0])}"
        lists = {
            name: sizes
            for name in self.columns
            if not _named(name, "gold") and (sizes := self._list_sizes(name)) and min(sizes) >= 2
        }
        for name, sizes in sorted(lists.items(), key=lambda pair: not _named(pair[0], "choices")):
            return (name,), f"each cell is a list of {min(sizes)} to {max(sizes)} texts"
        if all(name.startswith("column ") for name in self.columns):
            short = self._unnamed_options()
            if short:
                return short, f"{len(short)} neighbouring columns of short texts, {self._example(short[0])}"
        return (), ""

    def _family(self) -> tuple[tuple[str, ...], str, str, str, str] | None:
        """Columns that differ in a number or letter alone, if the golds of most rows name one of them."""
        families: dict[str, list[str]] = {}
        for name in self.columns:
            if (found := _FAMILY.match(_plain(name))) and self.filled[name]:
                families.setdefault(f"{found['stem']} {found['letter'] is None}", []).append(name)
        for names in sorted(families.values(), key=len, reverse=True):
            if len(names) < 2:
                break
            try:
                gold, why, scheme = self._gold(tuple(names))
            except UsageError:
                continue
            evidence = f"{len(names)} columns numbered alike, {self._example(names[0])}"
            return tuple(names), evidence, gold, why, scheme
        return None

    def _list_sizes(self, name: str) -> set[int]:
        cells = self.filled[name][:200]
        read = options_in if _named(name, "choices") else listed  # a passage has lines too
        found = [None if is_dict(cell) else read(cell) for cell in cells]
        sizes = {len(one) for one in found if one}
        return sizes if cells and sum(bool(one) for one in found) >= LEAST_FIT * len(cells) else set()

    def _unnamed_options(self) -> tuple[str, ...]:
        """Neighbouring columns of short texts with many values, where no header names anything."""
        best: list[str] = []
        run: list[str] = []
        longest = max(self.columns, key=self._length, default="")
        for name in [*self.columns, ""]:
            texts = [shown(value) for value in self.filled.get(name, ())]
            various = len(set(texts)) > max(3, len(texts) // 10)
            wordy = sum(any(c.isalpha() for c in text) for text in texts) > LEAST_FIT * len(texts)
            if name and name != longest and texts and various and wordy:
                run.append(name)
            else:
                best, run = max(best, run, key=len), []
        return tuple(best) if len(best) >= 2 else ()

    def _gold(self, choices: tuple[str, ...]) -> tuple[str, str, str]:
        found: list[tuple[float, str, str, str]] = []
        for name in self.columns:
            if name in choices or not self.filled[name]:
                continue
            bonus = _rank(name, "gold")
            if choices:
                share, scheme, both = self._fit(name, choices)
                varied = len({shown(value) for value in self.filled[name]}) > 1
                certain = bonus or (varied and (len(choices) > 1 or _named(choices[0], "choices")))
                if share >= LEAST_FIT and certain:
                    why = f"{share:.1%} of its cells name an option as {scheme}, {self._example(name)}"
                    found.append((share + 2 * bonus, name, why, "index0" if both else ""))
            elif bonus:
                found.append((bonus, name, self._answer_evidence(name), ""))
        if not found:
            truths = [name for name in self.columns if self._truth(name)]
            if truths and not choices:
                return truths[0], self._answer_evidence(truths[0]), ""
            names = ", ".join(map(repr, self.columns))
            raise UsageError(f"no column reads like an answer: name one of {names} with --map")
        _, name, why, scheme = max(found, key=lambda one: one[0])
        others = [one[1] for one in found if one[1] != name and _rank(one[1], "gold")]
        if others:
            self.notes.append(f"may hold answers too: {', '.join(others)}")
        return name, why, scheme

    def _fit(self, name: str, choices: tuple[str, ...]) -> tuple[float, str, bool]:
        options = []
        for row in self.rows:
            cells = (
                options_in(row.get(choices[0])) or [] if len(choices) == 1 else [row.get(c) for c in choices]
            )
            options.append(tuple(shown(cell) for cell in cells))
        given = [(row.get(name), some, self.language) for row, some in zip(self.rows, options, strict=True)]
        given = [one for one in given if not blank(one[0])]
        both = False
        try:
            golds = infer(given, "auto")
        except UsageError as error:
            if "gold_as" not in str(error):
                return 0.0, "", False
            golds, both = infer(given, "index0"), True
        fit = 0
        for gold, some, language in given:
            read = golds.read(gold, some, language)
            fit += bool(read) and all(0 <= one < len(some) and some[one] != "" for one in read or ())
        return fit / len(given), golds.described, both

    def _truth(self, name: str) -> bool:
        return says_truth([shown(value) for value in self.filled[name]], self.language)

    def _answer_evidence(self, name: str) -> str:
        counts = Counter(shown(value).strip() for value in self.filled[name])
        if len(counts) <= 6:
            return "answers in words: " + ", ".join(f"{text} {count}" for text, count in counts.most_common())
        if all(is_dict(value) for value in self.filled[name]):
            self.notes.append(f"{name!r} holds dictionaries of labels, and no column the options alone")
        return f"answers in words, {self._example(name)}"

    def _question(self, taken: set[str]) -> tuple[str, str]:
        texts = [name for name in self.columns if name not in taken and self._length(name) > 0]
        if not texts:
            raise UsageError("no column is left that could hold the question: name it with --map")
        named = [name for name in texts if _named(name, "question")]
        if not named:
            named = [name for name in texts if _plain(name).startswith(("question", "prompt"))]
            if len(named) > 1:
                self.notes.append(f"one prompt per condition: also {', '.join(named[1:])}; audit each apart")
        if named:
            return named[0], f"its name, {self._example(named[0])}"
        name = max(texts, key=lambda one: (self._length(one) * len(self.filled[one]), one))
        return name, f"the longest texts ({self._length(name):.0f} characters), {self._example(name)}"

    def _facts(self, taken: set[str]) -> Iterator[Guess]:
        for role in ("context", "id", "subset", "split", "language"):
            for name in sorted(self.columns, key=lambda one: -_rank(one, role)):
                if name in taken or not _named(name, role) or not self.filled[name]:
                    continue
                different = len({shown(value) for value in self.filled[name]})
                if role == "subset" and not 1 < different <= max(2, len(self.rows) // 2):
                    continue
                if role == "id" and different < LEAST_FIT * len(self.filled[name]):
                    self.notes.append(f"{name!r} is named like an id, but only {different} differ")
                    if different < len(self.filled[name]) // 2:
                        continue
                taken.add(name)
                filled = f"{different:,} different in {len(self.filled[name]):,} rows"
                yield Guess(what=role, columns=(name,), evidence=f"its name; {filled}")
                if role == "id":
                    yield from self._subset_of_id(name)
                break

    def _subset_of_id(self, name: str) -> Iterator[Guess]:
        if any(_named(other, "subset") and self.filled[other] for other in self.columns):
            return
        found = [_NUMBERED.match(shown(value)) for value in self.filled[name]]
        heads = Counter(one[1] for one in found if one)
        if len(heads) > 1 and heads.total() == len(found) and len(heads) <= len(found) // 2:
            mark = next(one[2] for one in found if one)
            why = f"ids begin with one of {len(heads)} names, e.g. {heads.most_common(1)[0][0]!r}"
            yield Guess(what="subset", columns=(f"{name}~{mark}",), evidence=why)

    def _length(self, name: str) -> float:
        """Mean length of the cells that hold several words."""
        texts = [value for value in self.filled[name] if isinstance(value, str) and " " in value.strip()]
        return sum(map(len, texts)) / len(texts) if texts else 0.0

    def _example(self, name: str) -> str:
        text = shown(self.filled[name][0]) if self.filled[name] else ""
        return f"e.g. {text[:40]!r}"


def _headerless(table: Table) -> bool:
    """Whether the header of a csv reads like a row: a question, a number, or a value of its own column."""
    telling: tuple[Role, ...] = ("question", "gold")
    if table.format not in ("csv", "tsv") or any(
        _named(name, role) for name in table.columns for role in telling
    ):
        return False
    cells = [name for name in table.header if name.strip()]
    like_row = any(len(name) > LONG or name.strip().endswith(("؟", "?", ":", ".")) for name in cells)
    numbers = any(name.strip().isdecimal() for name in cells)
    rows = list(table.rows.values())[:SAMPLE]
    repeated = any(sum(row[name] == name for row in rows) >= 2 for name in table.columns if name)
    return like_row or (numbers and len(cells) > 1) or repeated


def _plain(name: str) -> str:
    text = re.sub(r"[\s_-]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).strip().casefold()
    return text.translate(str.maketrans("أإآةىي", "ااا" + "ه" + "يي")).replace("ئ", "و").replace("ؤ", "و")


def _rank(name: str, role: Role) -> float:
    """1 to 0: how early the name stands among those of its role."""
    names = [_plain(one) for one in NAMES[role]]
    plain = _plain(name).removeprefix("ال") if _plain(name) not in names else _plain(name)
    return 1 - names.index(plain) / (2 * len(names)) if plain in names else 0.0


def _named(name: str, role: Role) -> bool:
    return _rank(name, role) > 0
