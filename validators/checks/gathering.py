"""What one shard tells the checks that look beyond one item: hashes and tallies, never the texts."""

from __future__ import annotations

import hashlib
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, NamedTuple
from zlib import crc32

from mihakk.machinery.languages import languages, pack
from mihakk.schemas.item import AnswerItem, ChoiceItem, ExplanationItem, Item
from mihakk.schemas.record import Language
from mihakk.validators.checks.hemistich import has_rhyme, offers_hemistichs
from mihakk.validators.checks.restated import Asked, numbered, packed, question_stems, word_hash
from mihakk.validators.checks.texts import Texts, answers, is_outside
from mihakk.validators.checks.wording import WordTally
from mihakk.validators.truth import truth_word

if TYPE_CHECKING:
    from mihakk.machinery.embeddings import Embedder


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
    items = list(items)
    gathered = Gathered(cosines=_cosines(items, embedder) if embedder else {})
    for item in items:
        texts = Texts.of(item)
        shingles = _shingles(item, texts)
        words = bytes_hash(shingles.tobytes()) if len(shingles) >= LEAST_SHINGLES else 0
        if words:
            gathered.shingles.setdefault(item.task, {})[words] = shingles
        mark = _print(item, texts, words)
        gathered.prints.append(mark)
        if isinstance(item, ChoiceItem) and len(item.gold) == 1 and item.options:
            tally = gathered.tallies.setdefault((item.subset, item.task, len(item.options)), Tally())
            if (gold := item.only_gold) is not None:
                _count(tally, item, gold)
        for right in answers(item):
            gathered.golds[item.task, len(texts.words(right)) >= LEAST_WORDS] += 1
        _facts(gathered, item, mark)
        _state(gathered, item, texts)
        _ask(gathered, item, texts)
        if is_outside(item) and not isinstance(item, ExplanationItem):
            gathered.wording.setdefault((item.task, item.language), WordTally()).add_item(item, texts)
        for name, value in item.fields.items():
            if len(texts.words(value)) >= 2:
                prompt = texts.key(item.question) + texts.key(item.context)
                gathered.fields[item.task, name, texts.key(value) in prompt] += 1
                hashed = text_hash(texts.folded(value))
                gathered.values.setdefault((item.task, name), {})[hashed] = len(texts.words(value))
    return gathered


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
LEAST_WORDS = 3
"""Words of the options whose meaning is compared: a cosine of two names says nothing."""
NUMBER_WEIGHT = 3
LEAST_SHINGLES = 8
"""Items of fewer word pairs are compared exactly or not at all: short templated stems overlap."""


def _print(item: Item, texts: Texts, words: int) -> Fingerprint:
    asked = [item.question, item.context, *(value for _, value in sorted(item.fields.items()))]
    options: list[str] = []
    pair = ""
    if isinstance(item, ChoiceItem):
        options, pair, right = list(item.options), item.pair_id, answers(item)
    elif isinstance(item, AnswerItem):
        right = [item.answer, *item.accepted]
    else:
        asked += item.verses
        right = ["\n".join(item.explanations)]

    keys = {text: texts.exact(text) for text in (*asked, *options, *right)}

    def exact(several: Iterable[str]) -> list[str]:
        return list(map(keys.__getitem__, several))

    prompt = text_hash(item.language, *sorted(item.fields), *map(texts.compared, asked))
    hashed = {option: option_hash(option, texts) for option in options}
    offered = frozenset(hashed.values())
    gold = frozenset(hashed[text] if text in hashed else option_hash(text, texts) for text in right)
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
        short_answer=isinstance(item, AnswerItem) and len(texts.words(item.answer)) <= 3,
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


def _state(gathered: Gathered, item: Item, texts: Texts) -> None:
    """Subset and id of an outside row, and a statement without its negations."""
    if item.subset:
        gathered.subsets[item.subset] += 1
    if item.metadata.get("id"):
        gathered.ids[item.subset, split_of(item), item.metadata["id"]] += 1
    answer = "" if item.context else _word_of_answer(item, texts)
    if answer:
        words = texts.compared_words(item.question)
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


def _word_of_answer(item: Item, texts: Texts) -> str:
    """The one word that answers a statement, or that its right option says of it; empty if there is none."""
    if isinstance(item, AnswerItem):
        folded = texts.folded(item.answer)
        return "" if " " in folded else folded
    if isinstance(item, ChoiceItem) and len(item.options) == 2 and item.only_gold is not None:
        said = [truth_word(option, item.language_of("options")) for option in item.options]
        return said[item.only_gold] if all(said) else ""
    return ""


def _ask(gathered: Gathered, item: Item, texts: Texts) -> None:
    """What an outside item asks and calls right, to find the same question in other words or rows."""
    if not is_outside(item):
        return
    gathered.marks.update(set(template_marks(texts.joined)))
    gold: int | None = 0
    if isinstance(item, ChoiceItem):
        offered, gold = [texts.compared_words(option) for option in item.options], item.only_gold
        if len(item.gold) == 1:
            gathered.gold_places[part_of(item), len(offered), item.gold[0]] += 1
        elif stray := item.metadata.get("gold"):
            gathered.stray[item.id] = frozenset(numbered(texts.compared_words(stray)))
    else:
        offered = [texts.compared_words(answer) for answer in answers(item)]
    said = texts.compared_words(item.question)
    row = Asked(item.id, -1 if gold is None else gold, packed(offered), numbered(said))
    gathered.rows.append(row)
    stems = (
        question_stems(said, ordered=pack(item.language).writing.word_order == "fixed")
        if offered and gold is not None
        else []
    )
    if stems:
        place = text_hash(item.task, texts.compared(item.context), *stems)
        gathered.asked.setdefault(place, []).append(row)


def option_hash(option: str, texts: Texts) -> int:
    """The hash by which options are compared, and under which `SetIndex.metres` knows one."""
    return text_hash(texts.compared(option))


def _shingles(item: Item, texts: Texts) -> array[int]:
    # Questions on one passage of an outside benchmark are no near copies for sharing it.
    passage = "" if is_outside(item) else item.context
    parts = [text for where, text in texts.parts if not where.startswith("accepted")]
    if isinstance(item, ChoiceItem):
        parts = [item.question, passage, *sorted(item.options)]
    elif not passage and item.context:
        parts = [
            text for where, text in texts.parts if where != "context" and not where.startswith("accepted")
        ]
    words = [word for text in (*parts, *item.fields.values()) for word in texts.compared_words(text)]
    # The hash of `a b` is that of ` b` begun with that of `a`.
    behind = [f" {word}".encode(errors="surrogatepass") for word in words[1:]]
    pairs = set(map(crc32, behind, map(word_hash, words)))
    if not "".join(words).isalpha():
        # Two problems that differ by a number or sign are two problems: each weighs as much as several words.
        numbers = [word for word in words if not word.isalpha()]
        pairs.update(word_hash(f"{word} {n}") for word in numbers for n in range(NUMBER_WEIGHT))
    return array("I", sorted(pairs))


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
