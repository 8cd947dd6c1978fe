"""An idiom's explanation without its book's apparatus.

al-Kinayat and its like carry page references, vowelling notes, lists of similar idioms and quoted verse
beside the meaning. The published benchmark took them out by hand; these are rules, and every cut is
counted. What was cut stays in `explanation.raw`.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final, NamedTuple

from mihakk.machinery.text import key, words
from mihakk.machinery.text.references import AR_LETTER, content

VERSE_WORDS: Final = 7
"""Words up to which a paragraph behind the first, without a full stop, is a line of quoted verse."""

_DIGIT: Final = "[0-9٠-٩۰-۹]"
_QUOTED: Final = r"[«\"][^«»\"\n]*[»\"]"
_LIST: Final = rf"{_QUOTED}(?:\s*+[،,]?\s*+و?\s*+(?:قولهم\s*+:\s*+)?{_QUOTED})*"
_SOUND: Final = r"(?:فتح|كسر|ضم|سكون|تشديد|تخفيف|إمالة|تسكين|فتحتين|كسرتين|ضمتين)"
_SOUNDS: Final = (
    rf"(?:[بفو]+(?:ال)?{_SOUND}(?:ه|ها|ة)?|(?:الأول|الأولى|أوله|أولها|الثاني|ثانيه|الثالث|آخره|فيهما|والصواب)"
    r"|(?:ال)?(?:موحدة|مثناة|مثلثة|مشددة|معجمة|مهملة|مخففة|تحتية|فوقية|حرف|لام|ميم|نون|راء|دال|باء|تاء|سين))"
)
_CITED: Final = re.compile(
    rf"انظر|راجع|{_DIGIT}|كما في|مادة|ديوان|القاموس|اللسان|المقامات|خزانة|الأغاني|استعمله|أورد|رواه"
    r"|البيت|بيت\s|زجل|مقطوع"
)
_POET: Final = re.compile(
    r"(?:قال|قول|قوله|أنشد|أجاد|نظم|نظمه|الشاعر|شعر|مطلع|بيت|أبيات|وقال|مقطوع|زجل|البيتين|ومنه|فقال)"
)
_LETTER: Final = re.compile("[\u0621-\u064a]")
_PARENTHESIS: Final = re.compile(r"(?:(?<!\s)\s++)?[(]([^()]*)[)]")
_VOWELLED: Final = re.compile(
    rf"(?:(?<!\s)\s++)?[—–]\s*ب(?:ال)?{_SOUND}[^—–:،؛.\n«]*(?:[—–]|(?=[:،؛.\n]))"
    rf"|(?<!\s)\s++ب(?:ال)?{_SOUND}(?:\s+{_SOUNDS}){{0,12}}(?=\s*[:،؛.])"
)
_SIMILAR: Final = re.compile(
    r"(?:[،؛.]\s*+|(?<!\s)\s++)?(?:و?في معنا[هها]+(?:\s+قولهم)?|و?مثل[هها]+(?:\s+(?:قولهم|أيضا))?"
    r"|و?يقولون في (?:عكسه|معناه|ضده)|و?عكسه|و?ضده|و?تقدم|و?يرادفه|و?يقرب منه|و?نحوه)\s*+[:：]?\s*+"
    rf"{_LIST}(?:\s*إلخ)?(?:\s+أي(?:(?!كناية)[^.\n«])*)?\s*\.?"
)
_LOOK: Final = r"(?<!\w)و?(?:انظر|راجع(?!\s+(?:ل|إلى)))(?!وا|ت)"
"""`See`; `راجع ل` says what a word goes back to."""
_UNDER: Final = rf"في\s+(?:حرف\s+)?(?:{AR_LETTER}|ال(?:موحدة|مثناة|مثلثة)(?:\s+ال\w+ية)?)(?!\w)"
_BEFORE: Final = r"(?:[،؛]\s*+|(?<!\s)\s++)?"
"""A mark and spaces, each run of them tried from its beginning alone."""
_SEE: Final = re.compile(
    rf"{_BEFORE}{_LOOK}(?:\s++(?!كناية)[^\s«»\".،:]++){{0,6}}\s*+[:،]?\s*+{_LIST}(?:\s+في\s+(?:كتاب\s+)?الأمثال)?"
    rf"(?:\s*إلخ)?(?:\s+{_UNDER}(?:\s+فهو في معناه)?)?"
    rf"(?:[.،]?\s*و{_UNDER}\s*+[:،]?\s*+{_LIST}(?:\s*إلخ)?)*\s*\.?"
    rf"|{_BEFORE}{_LOOK}(?:(?!كناية)[^.\n])*\.?"
    rf"|{_BEFORE}و(?:قد\s)?(?:سيأتي|سيأتيان|ستأتي|تقدم|ذكر)(?:\s(?:ذكره|ذكرها|بعده))?\s+{_UNDER}"
    rf"(?:\s*:\s*{_LIST})?\s*[.،]?"
    rf"|{_BEFORE}و(?:قد\s)?(?:سيأتي|سيأتيان|تقدم)(?:\s(?:ذكره|ذكرها|بعده|قبله))?\s*(?:[.،]|$)"
)
_DIGITS: Final = re.compile(
    rf"(?<=[\u0621-\u064a]{{3}}){_DIGIT}{{1,2}}(?!{_DIGIT}|[\u0621-\u064a])|^[^\S\n]*+{_DIGIT}{{1,2}}[^\S\n]*+$",
    re.M,
)
_EXAMPLE_WORDS: Final = 3
_EXAMPLE: Final = re.compile(
    r"(?:(?:(?<=[.،؛])|^)\s*+|(?<=\n)[^\S\n]*+)و?(?:يقولون|يقال|تقول|يقول|كقولهم|كأن يقولوا|مثاله|مثال ذلك)"
    r"(?:\s+(?:مثلا|له|لهم|لها|فيه|عنه|أحدهم|بعضهم|القائل))*\s*+:?\s*+"
    rf"(?P<said>{_LIST})\s*[.،؛]?"
)
_SENTENCES: Final = re.compile(r"(?<=[؛\n])|(?<=\.)(?!»)|(?<=\.»)")
_TIDY: Final = (
    (re.compile(r"(?<=[\s.،])و\s*(?=\.|$)"), ""),
    (re.compile(r"(?<![ \t])[ \t]++([،؛:.!؟])"), r"\1"),
    (re.compile(r"[،؛:]+(?=\s*\.)|(?<=[،؛:.])[،؛:]+"), ""),
    (re.compile(r"\.(?:\s*\.)+(?!\.)"), "."),
    (re.compile(r"(?<=[.؟!…]»)(?:\s*\.)+"), ""),
    (re.compile(r"^[\s،؛:.]++|(?<![\s،؛:])[\s،؛:]++$"), ""),
    (re.compile(r"\s+"), " "),
)


class Explanation(NamedTuple):
    """What is left of an explanation, and how often each kind was cut."""

    text: str
    cut: Counter[str]
    """`citation`, `pronunciation`, `similar_idioms`, `reference`, `verse`, `footnote_digit`, `example`,
    `remnant`."""
    examples: tuple[str, ...] = ()
    """Sentences that the explanation quotes with the phrase in them (`they say: «...»`)."""


def without_apparatus(explanation: str, phrase: str = "") -> Explanation:
    """The meaning alone; empty where the entry holds nothing but references.

    In the canonical text of an `explanation` a line break separates paragraphs, and verse has paragraphs of
    its own. A quoted sentence with the words of the `phrase` is an example of it.
    """
    cut: Counter[str] = Counter()
    text, examples = _without_examples(explanation, phrase)
    if examples:
        cut["example"] += len(examples)
    text = _PARENTHESIS.sub(lambda found: _parenthesis(found, cut), text)
    text = _without_verse(text, cut)
    text, count = _VOWELLED.subn(lambda found: ":" if found[0][-1] in "—–" else "", text)
    if count:
        cut["pronunciation"] += count
    for kind, pattern, mark in (
        ("similar_idioms", _SIMILAR, ". "),
        ("reference", _SEE, ". "),
        ("footnote_digit", _DIGITS, ""),
    ):
        text, count = pattern.subn(mark, text)
        if count:
            cut[kind] += count
    if not cut:
        return Explanation(explanation, cut)
    text = _without_remnants(text, cut)
    for pattern, mark in _TIDY:
        text = pattern.sub(mark, text)
    return Explanation(text if words(text) else "", cut, examples)


def _without_remnants(text: str, cut: Counter[str]) -> str:
    """Without sentences of which a cut has left a place, `etc.` or a formula, such as `etc. under L.`"""
    kept = []
    for sentence in _SENTENCES.split(text):
        if words(sentence) and not content(sentence):
            cut["remnant"] += 1
        else:
            kept.append(sentence)
    return "".join(kept)


def _uses(sentence: str, phrase: set[str]) -> bool:
    """At least half of the phrase's words are in the sentence, and other words too."""
    used = {key(word, "ar") for word in words(sentence)}
    return len(used) >= _EXAMPLE_WORDS and len(phrase & used) * 2 >= len(phrase)


def _without_examples(explanation: str, phrase: str) -> tuple[str, tuple[str, ...]]:
    """The explanation without the sentences in which the phrase is said to be used, and these sentences."""
    said = {key(word, "ar") for word in words(phrase)}
    examples: list[str] = []

    def taken(found: re.Match[str]) -> str:
        quoted = [sentence.strip('«»" .') for sentence in re.findall(_QUOTED, found["said"])]
        if not all(_uses(sentence, said) for sentence in quoted):
            return found[0]
        examples.extend(quoted)
        return ". "

    text = _EXAMPLE.sub(taken, explanation) if said else explanation
    return (text, tuple(examples)) if examples and content(text) else (explanation, ())


def _parenthesis(found: re.Match[str], cut: Counter[str]) -> str:
    if not _CITED.search(found[1]):
        return found[0]
    cut["citation"] += 1
    return ""


def _without_verse(text: str, cut: Counter[str]) -> str:
    """Without runs of short paragraphs behind the first, and without the clause that announced them."""
    kept: list[str] = []
    quoting = False
    for number, paragraph in enumerate(text.split("\n")):
        short = len(words(paragraph)) <= VERSE_WORDS and not re.search(r"[.«]|كناية|انظر", paragraph)
        if number and short and _LETTER.search(paragraph):
            if not quoting:
                kept[-1] = _without_announcement(kept[-1], only=len(kept) == 1)
            cut["verse"] += not quoting
            quoting = True
            continue
        quoting = False
        kept.append(paragraph)
    return "\n".join(kept)


def _without_announcement(paragraph: str, *, only: bool) -> str:
    """Without a last clause such as `and X said in praise:`; empty if it was all."""
    if not paragraph.rstrip().endswith(":"):
        return paragraph
    clauses = re.split(r"(?<=[،؛])|(?<=\.)(?!»)|(?<=\.»)", paragraph.rstrip())
    while clauses:
        last = clauses.pop()
        if _POET.search(last):
            return paragraph if only and not clauses else "".join(clauses)
    return paragraph
