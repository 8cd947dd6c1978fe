"""What the corpus keeps of a record: a line of each couplet, a phrase of an idiom, the facts of a poem."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from mihakk.generators.plain_meaning import Lacks, content_forms, plain_meaning
from mihakk.generators.writing.replies import contains
from mihakk.machinery.languages import pack
from mihakk.machinery.morphology import LIGHT, Morphology
from mihakk.machinery.text.key import key, word_keys
from mihakk.machinery.text.rhyme import parted_by_radif, rhyme, rhyme_vowel, ridf
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.poem import Couplet, Poem
from mihakk.schemas.record import Form, Language

MOST_SHARED = 2
"""Idioms that may state one meaning."""
LAST_WORDS = 6
"""Words of a Persian hemistich among which its radif is."""
Rhyme = tuple[str, str, str]
"""Rhyme key of a hemistich with its ridf, the vowel of its rhyme, and in Persian keys of its last words."""
_RIDF = "و"
"""For a long waw or yeh before the rawi."""


@dataclass(frozen=True, slots=True)
class Line:
    """One couplet as a place to take hemistichs from."""

    id: str
    poem: str
    poet: str
    language: Language
    metre: str
    licence: str
    first: str
    second: str
    first_key: str
    second_key: str
    first_rhyme: str
    """Rhyme key of the first hemistich, behind its ridf; empty without a letter."""
    second_rhyme: str
    first_vowel: str
    """Vowel of the rhyme of the first hemistich, see `rhyme_vowel`."""
    second_vowel: str
    first_end: str
    """Keys of the last words of the first hemistich, where there may be a radif; else empty."""
    second_end: str
    refrain: bool
    """Its second hemistich recurs in the same poem."""

    @property
    def rhymes_within(self) -> bool:
        """Its two hemistichs rhyme, as those of a first couplet do."""
        return rhyming(self.rhyme_of_first, self.rhyme_of_second)

    @property
    def rhyme_of_first(self) -> Rhyme:
        """Of the first hemistich."""
        return self.first_rhyme, self.first_vowel, self.first_end

    @property
    def rhyme_of_second(self) -> Rhyme:
        """Of the second hemistich."""
        return self.second_rhyme, self.second_vowel, self.second_end


def rhyming(one: Rhyme, other: Rhyme) -> bool:
    """Whether two hemistichs rhyme: one key, written vowels that do not differ, one rhyme before a radif."""
    if not one[0] == other[0] != "" or (one[1] != other[1] and one[1] and other[1]):
        return False
    return not parted_by_radif(one[2], other[2])


def may_rhyme(one: Rhyme, other: Rhyme) -> bool:
    """Whether they rhyme, or do if an Arabic waw or yeh without a mark is no long vowel: يحاوله and باذله."""
    bare = (one[0].lstrip(_RIDF), *one[1:]), (other[0].lstrip(_RIDF), *other[1:])
    return rhyming(one, other) or (not one[2] and rhyming(*bare))


@dataclass(frozen=True, slots=True)
class Phrase:
    """One idiom as a place to take phrases and explanations from."""

    id: str
    language: Language
    dialect: str
    genre: str
    licence: str
    phrase: str
    phrase_key: str
    meaning: str
    """What the explanation says without the idiom's own words; empty where it says nothing else."""
    lacks: Lacks
    """Why there is no meaning, where the explanation is not just the idiom repeated."""
    used: bool
    """A sentence of the source's uses it, so that it can be asked for by its use."""
    connotation: str
    """Empty where nobody gave one."""
    agreement: str
    """Kind, person and number, as far as the config's morphology tells."""
    theme: str
    """Of the chapter it stands in, where its book is arranged by themes."""
    words: tuple[str, ...]
    """Keys of the phrase's words."""
    says: frozenset[str]
    """Keys of the meaning's words."""
    forms: frozenset[str]
    """What stands for the phrase's words beside words akin to them, see `mihakk.machinery.morphology`."""
    meaning_forms: frozenset[str]
    """The same of the meaning's."""


@dataclass(frozen=True, slots=True)
class CorpusFacts:
    """What is known about one poem."""

    id: str
    language: Language
    poet: str
    era: str
    genre: str
    metre: str
    """Of its first section."""
    contested: str = ""
    """Labels that editors of it give differently."""


def indexed(
    records: Iterable[Poem | Idiom], morphology: Morphology = LIGHT
) -> tuple[list[Line], list[Phrase], list[CorpusFacts]]:
    """What the corpus takes from some records."""
    lines: list[Line] = []
    phrases: list[Phrase] = []
    poems: list[CorpusFacts] = []
    for record in records:
        if isinstance(record, Poem):
            lines += _lines(record)
            metre = record.sections[0].metre
            labels = record.poet, record.era, record.genre, metre, record.source_labels.get("contested", "")
            poems.append(CorpusFacts(record.id, record.language, *labels))
        elif phrase := _phrase(record, morphology):
            phrases.append(phrase)
    return lines, phrases, poems


def without_shared(phrases: Sequence[Phrase]) -> tuple[Phrase, ...]:
    """The phrases, without meanings that more than `MOST_SHARED` of them state: these tell none apart."""
    counts = Counter((phrase.language, key(phrase.meaning, phrase.language)) for phrase in phrases)
    return tuple(
        replace(one, meaning="", lacks="shared", says=frozenset(), meaning_forms=frozenset())
        if one.meaning and counts[one.language, key(one.meaning, one.language)] > MOST_SHARED
        else one
        for one in phrases
    )


def embedded(phrase: Phrase) -> str:
    """The text by which a phrase is near to others: its meaning, or itself where it has none."""
    return phrase.meaning or phrase.phrase


def form_key(form: Form, language: Language) -> str:
    """The form's key, made where normalisation has not run."""
    return form.key or key(form.shown, language)


def usable(couplet: Couplet) -> bool:
    """A couplet of two whole hemistichs: no refrain band, no single line, no word across the middle."""
    return couplet.kind == "couplet" and couplet.second is not None and not couplet.mudawwar


def metre_group(poem: Poem, couplet: Couplet) -> str:
    """What two lines share that sound alike: the metre; in English, where sources name none, the form."""
    metre = poem.metre(couplet)
    form = poem.sections[couplet.section].form
    return metre or (f"form:{form}" if pack(poem.language).rhyme == "last_word" and form else "")


def _lines(poem: Poem) -> list[Line]:
    pairs = [(couplet, couplet.second) for couplet in poem.couplets if usable(couplet)]
    keys = [form_key(second, poem.language) for _, second in pairs if second]
    return [
        Line(
            id=couplet.id,
            poem=poem.id,
            poet=poem.poet,
            language=poem.language,
            metre=metre_group(poem, couplet),
            licence=poem.provenance.licence,
            first=couplet.first.shown,
            second=second.shown,
            first_key=form_key(couplet.first, poem.language),
            second_key=second_key,
            first_rhyme=_full_rhyme(couplet.first.shown, poem.language),
            second_rhyme=_full_rhyme(second.shown, poem.language),
            first_vowel=rhyme_vowel(couplet.first.shown, poem.language),
            second_vowel=rhyme_vowel(second.shown, poem.language),
            first_end=_end(couplet.first.shown, poem.language),
            second_end=_end(second.shown, poem.language),
            refrain=keys.count(second_key) > 1,
        )
        for (couplet, second), second_key in zip(pairs, keys, strict=True)
        if second is not None
    ]


def _full_rhyme(hemistich: str, language: Language) -> str:
    return ridf(hemistich, language) + rhyme(hemistich, language)


def _end(hemistich: str, language: Language) -> str:
    return " ".join(word_keys(hemistich, language)[-LAST_WORDS:]) if pack(language).rhyme == "qafiya" else ""


def _phrase(idiom: Idiom, morphology: Morphology) -> Phrase | None:
    explanation = idiom.explanation.shown
    if not word_keys(explanation, idiom.language):
        return None
    language, phrase = idiom.language, idiom.phrase.shown
    meaning, lacks = plain_meaning(phrase, explanation, language, morphology)
    return Phrase(
        id=idiom.id,
        language=language,
        dialect=idiom.dialect,
        genre=idiom.genre,
        licence=idiom.provenance.licence,
        phrase=phrase,
        phrase_key=form_key(idiom.phrase, language),
        meaning=meaning,
        lacks=lacks,
        used=any(contains(example, phrase, language) for example in idiom.examples),
        connotation=idiom.connotation or "",
        agreement=morphology.agreement(phrase, language),
        theme=idiom.source_labels.get("theme", ""),
        words=tuple(word_keys(phrase, language)),
        says=frozenset(word_keys(meaning, language)),
        forms=content_forms(phrase, language, morphology),
        meaning_forms=content_forms(meaning, language, morphology),
    )
