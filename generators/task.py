"""What a task is, what it is given, and how its items are put together."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, TypeVar

from pydantic import Field

from mihakk.generators.corpus import Corpus
from mihakk.generators.meaning import Meaning
from mihakk.generators.prompts import Prompts
from mihakk.generators.writing.replies import contains
from mihakk.generators.writing.writer import ReplyT, Writer, WriteRequest
from mihakk.machinery.draw import lot
from mihakk.machinery.errors import RecordRejected
from mihakk.machinery.ids import item_id
from mihakk.machinery.languages import languages as fit_for
from mihakk.machinery.registry import Registry
from mihakk.machinery.seeds import rng
from mihakk.machinery.text.key import key
from mihakk.schemas.idiom import Idiom
from mihakk.schemas.item import AnswerItem, ChoiceItem, ExplanationItem, Item, Origin
from mihakk.schemas.poem import Couplet, Poem
from mihakk.schemas.record import Language, Record

Reads = Literal["poem", "idiom"]


class Options(Record):
    """What every task can be told."""

    per_record: int | None = Field(default=None, ge=1)
    """At most so many items (a pair counts once) from one record, chosen by seed; None takes all."""
    written: int | None = Field(default=None, ge=0)
    """Ask the writing model for only so many records, drawn by seed, the same ones for every task; the others
    are made without it, or not at all (`no_model`). None asks for all. It bounds what a build costs."""


class Skip(Exception):
    """One item that was not made, and why: tasks yield it, what they are made of raises it.

    Args:
        reason: Stable snake_case name, counted as `skipped.<task>.<reason>`.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


OptionsT = TypeVar("OptionsT", bound=Options)
RecordT = TypeVar("RecordT", Poem, Idiom)


@dataclass(frozen=True, slots=True)
class Stem:
    """What a question is about, before it becomes an item."""

    records: tuple[str, ...]
    """Records the question itself is taken from: they make the item's id."""
    language: Language
    fields: dict[str, str]
    """Named parts of the prompt template."""
    licence: str
    attribution: str
    metadata: dict[str, str] = field(default_factory=dict)
    dialect: str = ""
    context: str = ""
    variant: str = ""
    """Tells apart several items of one task from the same records."""


@dataclass(frozen=True, slots=True)
class Written:
    """What a model wrote into an item."""

    prompt_version: str
    model: str
    family: str


@dataclass(frozen=True)
class Context(Generic[OptionsT]):
    """What a generator may use besides its record."""

    task: str
    version: str
    build_seed: int
    """What all draws depend on; of a blind benchmark its secret tells it, and nothing that is made may."""
    options: OptionsT
    corpus: Corpus
    prompts: Prompts
    writer: Writer | None = None
    meaning: Meaning = field(default_factory=Meaning)
    """Similarity of texts that are not in the corpus."""
    couplets: int | None = None
    """Take so many couplets of a poem, the same ones in every task; None where the build takes no sample."""
    refused: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Couplet or idiom to the wrong options that people refused for it."""
    chosen: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Idiom to a sentence without it and the id of the wrong idiom that people chose for that sentence."""
    told_seed: int = 0
    """The config's seed, which every item names."""
    drawn: frozenset[str] | None = None
    """Poems and idioms that items are made of; None where they are made of all."""
    group: str = ""
    """Group of the task, see `mihakk.generators.apart`."""
    homes: Mapping[str, Sequence[str]] | None = None
    """Couplet of the record to the groups of tasks that may use it; None where all may use all."""

    def given(self, poem: Poem) -> tuple[Couplet, ...]:
        """The couplets of a poem that the task may use."""
        if self.homes is None:
            return poem.couplets
        return tuple(couplet for couplet in poem.couplets if self.group in self.homes[couplet.id])

    def refuses(self, record: str, text: str, language: Language) -> bool:
        """Whether people rated this wrong option of a record so low that it is not to be offered again."""
        return any(key(text, language) == key(one, language) for one in self.refused.get(record, ()))

    def in_order(self, values: Sequence[Any], record: str, name: Callable[[Any], str]) -> Sequence[Any]:
        """The values as they stand, or in seeded order where `per_record` takes only some of them.

        Each value's place depends on its own name alone, so that a removed neighbour moves no other.
        """
        if self.couplets is not None:
            return sorted(values, key=lambda value: lot(name(value)))[: self.couplets]
        if self.options.per_record is None:
            return values
        purpose = f"{self.task}\x1f{record}\x1fsample"
        return sorted(values, key=lambda value: rng(self.build_seed, name(value), purpose).random())

    def write(
        self,
        record: str,
        prompt: str,
        language: Language,
        schema: type[ReplyT],
        objection: Callable[[ReplyT], str],
        *,
        choices: tuple[str, ...] = (),
        **fields: str,
    ) -> tuple[ReplyT, Written]:
        """The writing model's reply to a prompt in the record's language, and who wrote it.

        Args:
            record: Id of the record it is written for.
            prompt: Task whose `write` words are sent.
            language: Of the record.
            schema: Shape of the reply.
            objection: What is wrong with a reply, see `Writer.write`.
            choices: What `chosen` fields may hold.
            fields: Parts of the prompt.

        Raises:
            Skip: There is no model (`no_model`), or no usable reply.
        """
        if self.writer is None:
            raise Skip("no_model")
        words = self.prompts.of(prompt).write[language]
        request = WriteRequest(
            record=record,
            name=prompt,
            version=words.version,
            language=language,
            system=words.system,
            user=words.user.format_map(fields),
            choices=choices,
        )
        try:
            reply = self.writer.write(request, schema, objection)
        except RecordRejected as error:
            raise Skip(error.reason) from error
        return reply, Written(words.version, self.writer.model, self.writer.family)

    def copies_example(self, prompt: str, language: Language, text: str) -> str:
        """What to say of a reply that is the prompt's own example; empty for any other."""
        words = self.prompts.of(prompt).write[language]
        if contains(words.user, text, language):
            return "copies_example: that is the example; write your own"
        return ""

    def answer(
        self,
        stem: Stem,
        answer: str,
        *,
        accepted: Sequence[str] = (),
        more_records: Sequence[str] = (),
        strategy: str = "",
        written: Written | None = None,
    ) -> AnswerItem:
        """An item answered in words."""
        return AnswerItem(
            id=item_id(self.task, stem.language, stem.records, stem.variant),
            answer=answer,
            accepted=tuple(accepted),
            **self._common(stem, more_records, strategy, written),
        )

    def explanation(
        self, stem: Stem, *, verses: Sequence[str], explanations: Sequence[str], overall: str
    ) -> ExplanationItem:
        """A poem with one explanation per verse."""
        return ExplanationItem(
            id=item_id(self.task, stem.language, stem.records, stem.variant),
            verses=tuple(verses),
            explanations=tuple(explanations),
            overall=overall,
            **self._common(stem, (), "", None),
        )

    def choice(
        self,
        stem: Stem,
        gold: str,
        wrong: Sequence[str],
        *,
        more_records: Sequence[str] = (),
        kinds: Sequence[str] = (),
        strategy: str = "",
        written: Written | None = None,
    ) -> Iterator[ChoiceItem | Skip]:
        """The two orders of one question, or a skip where two options would read the same.

        The first order is drawn from the seed; in the second every option stands elsewhere. `kinds` says what
        each wrong option is; left empty, all are what the strategy is called.
        """
        options = [gold, *wrong]
        if not wrong:
            yield Skip("no_wrong_option")
            return
        if len({key(option, stem.language) for option in options}) < len(options):
            yield Skip("options_read_the_same")
            return
        pair = item_id(self.task, stem.language, stem.records, f"{stem.variant}pair")
        named = ("right", *(kinds or [strategy] * len(wrong)))
        places = list(range(len(options)))
        rng(self.build_seed, pair, "order").shuffle(places)
        for order, offset in enumerate((0, 1)):
            turned = places[offset:] + places[:offset]
            yield ChoiceItem(
                id=item_id(self.task, stem.language, stem.records, f"{stem.variant}order{order}"),
                options=tuple(options[place] for place in turned),
                gold=(turned.index(0),),
                option_kinds=tuple(named[place] for place in turned),
                pair_id=pair,
                order=order,
                **self._common(stem, more_records, strategy, written),
            )

    def _common(
        self, stem: Stem, more_records: Sequence[str], strategy: str, written: Written | None
    ) -> dict[str, Any]:
        origin = Origin(
            records=tuple(dict.fromkeys((*stem.records, *more_records))),
            generator=self.task,
            generator_version=self.version,
            seed=self.told_seed,
            strategy=strategy,
            prompt_version=written.prompt_version if written else "",
            asked=self.prompts.version(self.task),
            model=written.model if written else "",
            model_family=written.family if written else "",
        )
        return {
            "task": self.task,
            "language": stem.language,
            "dialect": stem.dialect,
            "question": self.prompts.question(self.task, stem.language, stem.fields),
            "context": stem.context,
            "fields": stem.fields,
            "metadata": {name: value for name, value in stem.metadata.items() if value},
            "origin": origin,
            "licence": stem.licence,
            "attribution": stem.attribution,
        }


Made = Iterator[Item | Skip]


@dataclass(frozen=True)
class Task:
    """One kind of item and how it is made from one record."""

    name: str
    title: str
    version: str
    """Raised whenever the same record would give another item."""
    reads: Reads
    languages: tuple[Language, ...]
    options: type[Options]
    needs_model: bool
    """Can't be made without a model; tasks with a fallback say False and use a model where there is one."""
    uses_vectors: bool
    """Chooses by meaning where embeddings are configured."""
    group: str
    """Tasks of one group print nothing that another one of them asks, see `mihakk.generators.apart`."""
    rules: str
    """What the items promise, as the docs print it."""
    generate: Callable[[Context[Any], Any], Made]


TASKS: Registry[Task] = Registry("task", "mihakk.generators")


def task(
    *,
    title: str,
    reads: Reads,
    version: str = "1",
    languages: tuple[Language, ...] = (),
    options: type[Options] = Options,
    needs_model: bool = False,
    uses_vectors: bool = False,
    group: str = "",
) -> Callable[[Callable[[Context[OptionsT], RecordT], Made]], Callable[[Context[OptionsT], RecordT], Made]]:
    """Registers a generator function as the task of its own name; its docstring states the rules.

    A task is a group of its own unless it names one; it takes every language that is fit for items unless it
    names some.
    """

    def register(
        generate: Callable[[Context[OptionsT], RecordT], Made],
    ) -> Callable[[Context[OptionsT], RecordT], Made]:
        made = Task(
            name=generate.__name__,
            title=title,
            version=version,
            reads=reads,
            languages=languages or fit_for("items"),
            options=options,
            needs_model=needs_model,
            uses_vectors=uses_vectors,
            group=group or generate.__name__,
            rules=" ".join((generate.__doc__ or "").split()),
            generate=generate,
        )
        TASKS.add(made.name, made)
        return generate

    return register
