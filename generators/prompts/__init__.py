"""Prompts as data: `<task>.yaml` holds what is asked in each language, `layout.yaml` how it looks."""

from functools import cache
from pathlib import Path
from string import Formatter

from pydantic import Field

from mihakk.machinery.configs import load_config
from mihakk.machinery.errors import UsageError
from mihakk.machinery.languages import stand_in
from mihakk.schemas.item import AnswerItem, ChoiceItem, ExplanationItem, Item
from mihakk.schemas.record import Language, Record

FOLDER = Path(__file__).parent


class Wording(Record):
    """A task's words in one language."""

    question: str
    """The stem; `{name}` stands for a field of the item."""
    instruction: str
    """What the answerer is told before the question."""


class WritePrompt(Record):
    """What a model is told that writes a part of an item."""

    version: str
    system: str
    user: str
    """`{name}` stands for a field given by the generator."""


class TaskPrompts(Record):
    """One `<task>.yaml`."""

    version: str
    """Raised with every change of wording."""
    ask: dict[Language, Wording]
    write: dict[Language, WritePrompt] = Field(default_factory=dict)
    """By language of the record; absent where no model writes."""


class LanguageLayout(Record):
    """How a prompt looks in one language."""

    labels: tuple[str, ...]
    """Option labels of items in this language."""
    separator: str
    """Between labels in a sentence."""
    context: str
    choice: str
    """How to answer a choice; `{labels}` stands for the labels."""
    answer: str
    explanation: str


class Layout(Record):
    """`layout.yaml`."""

    version: str
    languages: dict[Language, LanguageLayout]


class Prompts:
    """All prompts, read when first asked for.

    Args:
        own: Folder with `<task>.yaml` files that stand in for the bundled ones of the same name.

    Raises:
        UsageError: The folder is missing, or holds a file that stands in for none.
    """

    def __init__(self, own: Path | None = None) -> None:
        self._own = own
        self._tasks: dict[str, TaskPrompts] = {}
        self.layout = load_config(FOLDER / "layout.yaml", Layout)
        if own is None:
            return
        if not own.is_dir():
            raise UsageError(f"prompts: there is no folder {own}")
        known = {path.name for path in FOLDER.glob("*.yaml")} - {"layout.yaml"}
        if strange := sorted(path.name for path in own.glob("*.yaml") if path.name not in known):
            raise UsageError(
                f"prompts: {own / strange[0]} is not named after a task; `mihakk tasks` lists them"
            )

    def of(self, task: str) -> TaskPrompts:
        """The prompts of a task.

        Raises:
            UsageError: The task has no file, or the file does not fit.
        """
        if task not in self._tasks:
            self._tasks[task] = load_config(self._file(task), TaskPrompts)
        return self._tasks[task]

    def _file(self, task: str) -> Path:
        own = None if self._own is None else self._own / f"{task}.yaml"
        return own if own and own.is_file() else FOLDER / f"{task}.yaml"

    def question(self, task: str, language: Language, fields: dict[str, str]) -> str:
        """The stem in one language."""
        return _filled(self._ask(task, language).question, fields, task)

    def version(self, task: str) -> str:
        """Version of the task's words and of the layout, as results name it."""
        return f"{self.of(task).version}+{self.layout.version}"

    def labels(self, language: Language, options: int) -> tuple[str, ...]:
        """Labels of so many options.

        Raises:
            UsageError: More options than the language has labels for.
        """
        labels = self.layout.languages[language].labels
        if options > len(labels):
            raise UsageError(
                f"{options} options, but only {len(labels)} labels for {language!r}: add some to layout.yaml"
            )
        return labels[:options]

    def render(self, item: Item, language: Language) -> str:
        """The whole prompt in one language; options keep their own words and their script's labels."""
        ask = self._ask(item.task, language)
        layout = self.layout.languages[language]
        question = (
            item.question if language == item.language else _filled(ask.question, item.fields, item.task)
        )
        parts = [ask.instruction]
        if item.context:
            parts.append(f"{layout.context}\n{item.context}")
        parts.append(question)
        match item:
            case ChoiceItem():
                labels = self.labels(item.language, len(item.options))
                lines = [f"{label}) {option}" for label, option in zip(labels, item.options, strict=True)]
                parts += ["\n".join(lines), layout.choice.format(labels=layout.separator.join(labels))]
            case AnswerItem():
                parts.append(layout.answer)
            case ExplanationItem():
                parts += [
                    "\n".join(f"{n}. {verse}" for n, verse in enumerate(item.verses, 1)),
                    layout.explanation,
                ]
        return "\n\n".join(part.strip() for part in parts) + "\n"

    def _ask(self, task: str, language: Language) -> Wording:
        ask = self.of(task).ask
        if language not in ask:
            raise UsageError(f"{self._file(task)} has no words in {language!r}: add them under `ask`")
        return ask[language]


def _filled(template: str, fields: dict[str, str], task: str) -> str:
    wanted = {name for _, name, _, _ in Formatter().parse(template) if name}
    if missing := sorted(wanted - fields.keys()):
        raise UsageError(
            f"generators/prompts/{task}.yaml names fields the task does not give: {', '.join(missing)}"
        )
    return template.format_map(fields).strip()


@cache
def bundled() -> Prompts:
    """The prompts of this repository."""
    return Prompts()


@cache
def prompts_of(folder: str) -> Prompts:
    """The prompts of a config: the folder's own, and the bundled ones beside them."""
    return Prompts(Path(folder)) if folder else bundled()


def render(item: Item, language: Language) -> str:
    """The item as a prompt in one language, with the bundled words."""
    return bundled().render(item, language)


def outside_prompt(item: Item) -> str:
    """The prompt of a row that somebody else wrote: their question in our layout."""
    spoken = stand_in(item.language, bundled().layout.languages)
    layout = bundled().layout.languages[spoken]
    parts = [f"{layout.context}\n{item.context}" if item.context else "", item.question]
    if isinstance(item, ChoiceItem):
        labels = bundled().labels(spoken, len(item.options))
        lines = [f"{label}) {option}" for label, option in zip(labels, item.options, strict=True)]
        parts += ["\n".join(lines), layout.choice.format(labels=layout.separator.join(labels))]
    else:
        parts.append(layout.answer)
    return "\n\n".join(part for part in parts if part) + "\n"
