"""What one shard tells the checks that look beyond one item: hashes and tallies, never the texts."""

from __future__ import annotations

import hashlib
import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from mihakk.machinery.languages import languages, pack
from mihakk.machinery.text import words_key
from mihakk.machinery.text.comparison import comparison_words
from mihakk.schemas.item import AnswerItem, ChoiceItem, ExplanationItem, Item, QuestionItem
from mihakk.schemas.record import Language
from mihakk.validators.checks.hemistich import has_rhyme, offers_hemistichs
from mihakk.validators.checks.restated import AND, Asked, number
from mihakk.validators.checks.texts import Part, Texts, answers, is_outside
from mihakk.validators.checks.wording import WordTally
from mihakk.validators.truth import truth_word

if TYPE_CHECKING:
    from mihakk.machinery.embeddings import Embedder
    from mihakk.validators.checks.columns import Columns, Forms


def split_of(item: Item) -> str:
    """The item's split under the name its benchmark gives it; empty where it has none."""
    return item.split or item.metadata.get("split", "")


def part_of(item: Item) -> str:
    """The part of an outside benchmark that an item stands in: its subset, or else its file."""
    return item.subset or table_of(item.origin.records)[0]


def table_of(records: Sequence[str]) -> tuple[str, int]:
    """Table and row number of an outside item, whose only record is `file.jsonl#12`."""
    table, _, number = records[0].rpartition("#") if records else ("", "", "")
    return table, int(number) if number.isdecimal() else 0


def text_hash(*parts: str) -> int:
    # Half a surrogate pair, as some JSON holds, is text like any other here.
    return bytes_hash("\x1f".join(parts).encode(errors="surrogatepass"))


def bytes_hash(data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8).digest(), "big")


class Fingerprint(NamedTuple):
    """One item as its neighbours see it; all but `exact` are hashes of comparison keys."""

    item: str
    task: str
    pair: str
    subset: str
    split: str
    prompt: int
    """Question, context and fields, by their comparison keys."""
    body: int
    """Prompt, options in any order, and what counts as right."""
    exact: int
    """The same by exact keys: equal for rows of which one may go."""
    options: frozenset[int]
    gold: frozenset[int]
    records: tuple[str, ...]
    short_answer: bool
    """The answer is in words and so few that two different ones can't both be right."""
    words: int
    """Its set of word pairs in `Gathered.shingles`; 0 where it has too few to be compared."""

    def twin(self, other: Fingerprint) -> bool:
        """The other is the same item, or the same with its options in another order."""
        return self.item == other.item or (self.pair != "" and self.pair == other.pair)


@dataclass(slots=True)
class Tally:
    """Counts over the choice items of one task with one number of options."""

    items: int = 0
    positions: Counter[int] = field(default_factory=Counter)
    """Items whose only gold stands at that position."""
    longest_right: float = 0.0
    """Expected hits of one who always takes the longest option; ties are shared."""
    shortest_right: float = 0.0
    rhymed: int = 0
    """Items whose options are hemistichs of a poem with a known rhyme."""
    rhyme_right: float = 0.0
    """Expected hits, among these, of one who takes any option with the rhyme."""

    def add(self, other: Tally) -> None:
        """Adds another shard's counts."""
        self.items += other.items
        self.positions.update(other.positions)
        self.longest_right += other.longest_right
        self.shortest_right += other.shortest_right
        self.rhymed += other.rhymed
        self.rhyme_right += other.rhyme_right


@dataclass(slots=True)
class Gathered:
    """What one shard contributes to the index."""

    prints: list[Fingerprint] = field(default_factory=list)
    shingles: dict[str, dict[int, array[int]]] = field(default_factory=dict)
    """By task, the different sets of word pairs of its items: their hash, and the pairs' hashes ascending."""
    tallies: dict[tuple[str, str, int], Tally] = field(default_factory=dict)
    """By subset, task and number of options."""
    fields: Counter[tuple[str, str, bool]] = field(default_factory=Counter)
    """By task, field and whether the prompt holds the field's text."""
    values: dict[tuple[str, str], dict[int, int]] = field(default_factory=dict)
    """By task and field: hash of each text of several words, and how many words it has."""
    golds: Counter[tuple[str, bool]] = field(default_factory=Counter)
    """By task and whether the right answer has three words or more."""
    metres: dict[int, set[str]] = field(default_factory=dict)
    """Metres of the poems that an option was taken from, known where it is the gold of some item."""
    eras: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    """Eras that items give a poet, by language and poet."""
    ids: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    """Rows by subset, split and the id that an outside benchmark gives them."""
    subsets: Counter[str] = field(default_factory=Counter)
    statements: dict[int, list[tuple[str, bool, int]]] = field(default_factory=dict)
    """By hash of its words but negations: statement, whether it is negated, hash of its short answer."""
    asked: dict[int, list[Asked]] = field(default_factory=dict)
    """Items of outside benchmarks by hash of their context and of their question's words in any order."""
    wording: dict[tuple[str, Language], WordTally] = field(default_factory=dict)
    """Words of outside benchmarks by task and language."""
    rows: list[Asked] = field(default_factory=list)
    """All items of outside benchmarks."""
    marks: Counter[str] = field(default_factory=Counter)
    """Outside items by mark of a prompt's template in them."""
    stray: dict[str, frozenset[int]] = field(default_factory=dict)
    """By item id: words of a gold that names none of the options."""
    gold_places: Counter[tuple[str, int, int]] = field(default_factory=Counter)
    """Outside items by part of the set, number of options and place of the gold, perhaps out of range."""
    cosines: dict[str, tuple[tuple[int, float], ...]] = field(default_factory=dict)
    """By item id: each wrong option and its cosine to the gold; empty without an embedder."""


def gather(items: Iterable[Item], embedder: Embedder | None = None) -> Gathered:
    """One shard's contribution; small, independent of all other shards, fit to be sent between processes.

    Args:
        items: The shard.
        embedder: Measures how near wrong options are to the gold; None leaves `CH06` nothing to say.
    """
    from mihakk.validators.checks.columns import Columns

    items = list(items)
    gathered = Gathered(cosines=_cosines(items, embedder) if embedder else {})
    columns, held = Columns(), dict[Any, Any]()
    for start in range(0, len(items), AT_ONCE):
        _gather(gathered, items[start : start + AT_ONCE], columns, held)
    return gathered


def _gather(gathered: Gathered, items: Sequence[Item], columns: Columns, held: dict[Any, Any]) -> None:
    """Adds some items: their texts are written down, worked on as columns, and told item by item."""
    from mihakk.machinery.ragged import Growing
    from mihakk.validators.checks.columns import Forms, asked, packed, shingles

    forms = [Forms(item, columns) for item in items]
    overlap, spoken, offered = Growing(), Growing(), Growing()
    for item, texts in zip(items, forms, strict=True):
        overlap.add(texts[text].place for text in _overlapping(item, texts.parts))
        spoken.add(texts[text].place for _, text in texts.parts if text not in texts.others)
        options = item.options if isinstance(item, ChoiceItem) else answers(item)
        offered.add(texts[text].place for text in options)
        texts.write(item.context, *_right(item))
    compared, folded = columns.take()
    questions = [texts[item.question].place for item, texts in zip(items, forms, strict=True)]
    ordered = [pack(item.language).writing.word_order == "fixed" for item in items]
    words, lengths = columns.words, folded.lengths().tolist()
    pairs_of = shingles(compared.joined(overlap.ragged()), words)
    answered_of = packed(compared, offered.ragged(), words)
    numbers_of, known_of = asked(compared.take(questions), words, ordered)
    told = zip(
        *(items, forms, pairs_of.arrays(), answered_of.arrays(), numbers_of.arrays(), known_of),
        strict=True,
    )
    outside: dict[tuple[str, Language], dict[int, QuestionItem]] = defaultdict(dict)
    for place, (item, texts, pairs, answered, said, known_by) in enumerate(told):
        alike = bytes_hash(pairs.tobytes()) if len(pairs) >= LEAST_SHINGLES else 0
        if alike:
            gathered.shingles.setdefault(item.task, {})[alike] = pairs
        short = isinstance(item, AnswerItem) and lengths[texts[item.answer].place] <= LEAST_WORDS
        mark = _print(item, texts, alike, short_answer=short)
        # Items of one record, and both orders of a question, hold the same: it is in memory once.
        gathered.prints.append(Fingerprint(*(held.setdefault((type(one), one), one) for one in mark)))
        if isinstance(item, ChoiceItem) and len(item.gold) == 1 and item.options:
            counts = gathered.tallies.setdefault((item.subset, item.task, len(item.options)), Tally())
            if (only := item.only_gold) is not None:
                _count(counts, item, only)
        for right in answers(item):
            gathered.golds[item.task, lengths[texts[right].place] >= LEAST_WORDS] += 1
        _facts(gathered, item, mark)
        _state(gathered, item, texts)
        if item.fields:
            _fields(gathered, item)
        if is_outside(item):
            gold = item.only_gold if isinstance(item, ChoiceItem) else 0
            row = Asked(item.id, -1 if gold is None else gold, answered, said)
            _ask(gathered, item, texts, row, known_by)
            outside[item.task, item.language][place] = item
    in_questions, in_all = folded.take(questions), folded.joined(spoken.ragged())
    for kind, rows in outside.items():
        tally = gathered.wording.setdefault(kind, WordTally())
        chosen = list(rows)
        tally.add_items([*rows.values()], in_questions.take(chosen), in_all.take(chosen), words)


_HEADING = r"[^\W\d_][\w ]{2,24}"
_LABEL = "Question|Answer|Options|Choices|Context|السؤال|الإجابة|الجواب|الخيارات|السياق|سؤال|پاسخ|گزینه‌ها"
_MARK = re.compile(
    rf"#{{2,6}}\s?{_HEADING}(?::|$)|\{{\{{\s*\w{{3,}}\s*\}}\}}|\*\*{_HEADING}(?::\*\*|\*\*:)|<</?SYS>>"
    rf"|\{{(?:question|answer|choices|options|context|input|instruction|passage)\}}|^(?:{_LABEL})\s?:",
    re.MULTILINE,
)


def template_marks(text: str) -> list[str]:
    """Headings and slots of a prompt's template in a text: `### Response:`, `{{choices}}`, `Question:`."""
    return _MARK.findall(text) if any(sign in text for sign in _MARK_SIGNS) else []


_MARK_SIGNS = (":", "{", "##", "**", "<<")
AT_ONCE = 2048
"""Items whose texts are worked on together."""
LEAST_WORDS = 3
"""Words of the options whose meaning is compared: a cosine of two names says nothing."""
LEAST_SHINGLES = 8
"""Items of fewer word pairs are compared exactly or not at all: short templated stems overlap."""


def _right(item: Item) -> list[str]:
    """What counts as right, as texts."""
    if isinstance(item, ExplanationItem):
        return ["\n".join(item.explanations)]
    return [item.answer, *item.accepted] if isinstance(item, AnswerItem) else answers(item)


def _print(item: Item, texts: Forms, words: int, *, short_answer: bool) -> Fingerprint:
    asked = [item.question, item.context, *(value for _, value in sorted(item.fields.items()))]
    options: Sequence[str] = ()
    pair, right = "", _right(item)
    if isinstance(item, ChoiceItem):
        options, pair = item.options, item.pair_id
    elif isinstance(item, ExplanationItem):
        asked += item.verses

    def exact(several: Iterable[str]) -> list[str]:
        return [texts[text].exact for text in several]

    prompt = text_hash(item.language, *sorted(item.fields), *(texts[text].key for text in asked))
    hashed = {text: text_hash(texts[text].key) for text in (*options, *right)}
    offered = frozenset(hashed[option] for option in options)
    gold = frozenset(hashed[text] for text in right)
    return Fingerprint(
        item=item.id,
        task=item.task,
        pair=pair,
        subset=item.subset,
        split=split_of(item),
        prompt=prompt,
        body=text_hash(str(prompt), *map(str, sorted(offered)), "gold", *map(str, sorted(gold))),
        exact=text_hash(*exact(asked), "options", *sorted(exact(options)), "gold", *sorted(exact(right))),
        options=offered,
        gold=gold,
        records=item.origin.records,
        short_answer=short_answer,
        words=words,
    )


def _cosines(items: Sequence[Item], embedder: Embedder) -> dict[str, tuple[tuple[int, float], ...]]:
    chosen = [
        item
        for item in items
        if isinstance(item, ChoiceItem)
        and item.only_gold is not None
        and all(option.count(" ") >= LEAST_WORDS - 1 for option in item.options)
    ]
    texts = sorted({option for item in chosen for option in item.options})
    row = {text: n for n, text in enumerate(texts)}
    vectors = embedder.encode(texts)
    found = {}
    for item in chosen:
        right = vectors[row[item.options[item.gold[0]]]]
        found[item.id] = tuple(
            (place, round(float(right @ vectors[row[option]]), 4))
            for place, option in enumerate(item.options)
            if place not in item.gold
        )
    return found


def _facts(gathered: Gathered, item: Item, mark: Fingerprint) -> None:
    metre, poet, era = (item.metadata.get(name, "") for name in ("metre", "poet", "era"))
    # The second hemistichs of a poem are golds of its own items: only these say which metre an option has.
    if metre and offers_hemistichs(item):
        for option in mark.gold:
            gathered.metres.setdefault(option, set()).add(metre)
    if poet and era:
        gathered.eras.setdefault((item.language, poet), set()).add(era)


def _state(gathered: Gathered, item: Item, texts: Forms) -> None:
    """Subset and id of an outside row, and a statement without its negations."""
    if item.subset:
        gathered.subsets[item.subset] += 1
    if item.metadata.get("id"):
        gathered.ids[item.subset, split_of(item), item.metadata["id"]] += 1
    answer = "" if item.context else _word_of_answer(item, texts)
    if answer:
        words = comparison_words(item.question, texts.language(item.question))
        denies = negations(item.language)
        rest = [word for word in words if word not in denies]
        if len(rest) >= LEAST_WORDS:
            odd = (len(words) - len(rest)) % 2 == 1
            place = text_hash(item.task, *rest)
            gathered.statements.setdefault(place, []).append((item.id, odd, text_hash(answer)))


@cache
def negations(language: Language) -> frozenset[str]:
    """Of the language, and of those that items are made in: tables mix them."""
    return frozenset(word for one in (language, *languages("items")) for word in pack(one).negations)


def _word_of_answer(item: Item, texts: Forms) -> str:
    """The one word that answers a statement, or that its right option says of it; empty if there is none."""
    if isinstance(item, AnswerItem):
        folded = words_key(item.answer, texts.language(item.answer))
        return "" if " " in folded else folded
    if isinstance(item, ChoiceItem) and len(item.options) == 2 and item.only_gold is not None:
        said = [truth_word(option, item.language_of("options")) for option in item.options]
        return said[item.only_gold] if all(said) else ""
    return ""


def _ask(gathered: Gathered, item: Item, texts: Forms, row: Asked, known_by: bytes) -> None:
    """What an outside item asks and calls right, to find the same question in other words or rows."""
    gathered.rows.append(row)
    gathered.marks.update(set(template_marks("\n".join(text for _, text in texts.parts))))
    if isinstance(item, ChoiceItem):
        if len(item.gold) == 1:
            gathered.gold_places[part_of(item), len(item.options), item.gold[0]] += 1
        elif stray := item.metadata.get("gold"):
            said = comparison_words(stray, texts.language(stray))
            gathered.stray[item.id] = frozenset(number(word) for word in said if word != AND)
    if known_by and row.answers and row.gold >= 0:
        context = "\x1f".join((item.task, texts[item.context].key, "")).encode(errors="surrogatepass")
        gathered.asked.setdefault(bytes_hash(context + known_by), []).append(row)


def option_hash(option: str, texts: Texts) -> int:
    """The hash by which options are compared, and under which `SetIndex.metres` knows one."""
    return text_hash(texts.compared(option))


def _overlapping(item: Item, parts: Sequence[Part]) -> list[str]:
    """The texts whose words two near copies share."""
    # Questions on one passage of an outside benchmark are no near copies for sharing it.
    passage = "" if is_outside(item) else item.context
    if isinstance(item, ChoiceItem):
        texts = [item.question, passage, *sorted(item.options)]
    else:
        left_out = ("accepted",) if passage else ("accepted", "context")
        texts = [text for where, text in parts if not where.startswith(left_out)]
    return [*texts, *item.fields.values()]


def _fields(gathered: Gathered, item: Item) -> None:
    """Which of the texts that a template fills in its prompt holds."""
    texts = Texts.of(item)
    for name, value in item.fields.items():
        if len(texts.words(value)) >= 2:
            prompt = texts.key(item.question) + texts.key(item.context)
            gathered.fields[item.task, name, texts.key(value) in prompt] += 1
            hashed = text_hash(texts.folded(value))
            gathered.values.setdefault((item.task, name), {})[hashed] = len(texts.words(value))


def _count(tally: Tally, item: ChoiceItem, gold: int) -> None:
    if offers_hemistichs(item):
        tally.rhymed += 1
        tally.rhyme_right += 1 / sum(has_rhyme(option, item) for option in item.options)
    lengths = [len(option) for option in item.options]
    tally.items += 1
    tally.positions[gold] += 1
    for extreme, name in ((max(lengths), "longest_right"), (min(lengths), "shortest_right")):
        if lengths[gold] == extreme:
            setattr(tally, name, getattr(tally, name) + 1 / lengths.count(extreme))
