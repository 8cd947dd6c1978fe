"""The audit stage: which items are audited, by whom, and the verdicts."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path
from typing import Any, Final

from mihakk.machinery.configs import load_yaml
from mihakk.machinery.groups import grouped
from mihakk.machinery.llm.budget import Cap, Meter
from mihakk.machinery.llm.journal import Journal
from mihakk.machinery.llm.model import Model, open_model
from mihakk.machinery.llm.spending import Ledger
from mihakk.machinery.llm.structured import Reply, Request
from mihakk.machinery.llm.unusable import FirstReplies
from mihakk.machinery.seeds import rng
from mihakk.machinery.settings import Settings
from mihakk.machinery.text.language import language_evidence
from mihakk.schemas.audit import EXPLAINED_IN, TAKEN_OFF, Audit, Verdict
from mihakk.schemas.benchmark import Policy
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import Item
from mihakk.schemas.model import (
    AuditorsConfig,
    Cost,
    Embedded,
    ModelConfig,
    Remote,
    ReplyForm,
    UnusableLimit,
)
from mihakk.schemas.record import Record
from mihakk.validators.audit.blind import blind_request, can_be_asked, differs
from mihakk.validators.audit.policy import verdict
from mihakk.validators.audit.prompt import described, messages
from mihakk.validators.audit.reply import Opinion, opinion, schema, schema_digest, short_opinion

TOKENISED = 64
"""Prompts of each auditor that an estimate really tokenises."""
MEASURED = 20
"""Replies of a model in the journal from which the time of a call is their mean."""
ASSUMED_SECONDS = 10.0
"""Time of a call of which nothing is measured."""


class Estimate(Record):
    """What auditing would cost now."""

    calls: int
    """Calls that the journal can't answer; repair requests come on top."""
    cached: int
    """Calls that the journal answers."""
    prompt_tokens: int
    """Prompt tokens of the calls to be made."""
    basis: str
    """How the tokens were counted: `tokenised`, `tokenised sample` or `characters`."""
    costs: tuple[Cost, ...] = ()
    """By currency, of the models that have a price."""
    unpriced: tuple[str, ...] = ()
    """Models to be asked whose price no config gives."""
    hours: float = 0.0
    """With as many calls in flight as `limits.concurrency` allows; the auditors work side by side."""
    seconds: float = 0.0
    """Of the slower auditor's calls, each."""
    cap: float | None = None
    """Most that they may cost together in this month; None where nothing is said."""
    spent: float = 0.0
    """What they have cost in this month so far, requests that are not settled at their most."""
    measured: bool = False
    """Whether the seconds are the mean of its replies in the journal, or `ASSUMED_SECONDS`."""


class Panel:
    """The two auditors of a run."""

    def __init__(self, first: Model, second: Model, limit: UnusableLimit) -> None:
        self.models = (first, second)
        self.first_replies = tuple(FirstReplies(one.config.name, limit) for one in self.models)
        """Counted over all that the panel is asked."""
        self.cap: float | None = None
        """Most that both may cost together in this month."""
        self.spent = 0.0
        """What they had cost when the panel was opened."""

    @property
    def names(self) -> tuple[str, str]:
        """The auditors' names, in the order of their audits."""
        return self.models[0].config.name, self.models[1].config.name

    @property
    def capable(self) -> bool:
        """Both are large enough to be judges."""
        return all(model.config.capable for model in self.models)


@contextmanager
def open_panel(config: AuditorsConfig, store: Settings, spending: Path | None = None) -> Iterator[Panel]:
    """Both auditors for the length of a `with` block; embedded servers start when first needed.

    Args:
        config: The auditors.
        store: Where weights lie.
        spending: Folder of the benchmark's ledger; without one only this run is counted.
    """
    share = sum(isinstance(auditor.serve, Embedded) for auditor in config.auditors)
    names = tuple(one.name for one in config.auditors)
    caps = [Cap(names, config.budget)] if config.budget else []
    with ExitStack() as stack:
        ledger = stack.enter_context(Ledger(spending))
        first, second = (
            stack.enter_context(open_model(one, store, share, Meter(one, ledger, caps)))
            for one in config.auditors
        )
        panel = Panel(first, second, config.unusable)
        panel.cap = config.budget.cost if config.budget else None
        prices = [one.price.currency for one in config.auditors if one.price]
        panel.spent = sum(ledger.spent(*who).at_most for who in zip(names, prices, strict=False))
        yield panel


def select(tasks: Mapping[str, str], limit: int | None, seed: int) -> set[str]:
    """Ids of the items to audit: all, or `limit` of them spread over the tasks in proportion.

    Depends on ids, tasks, limit and seed alone, never on the order of the items.

    Args:
        tasks: Id of an item to its task.
        limit: How many; all where None.
        seed: Draws them.
    """
    if limit is None or limit >= len(tasks):
        return set(tasks)
    by_task = grouped(tasks, tasks.__getitem__)
    chosen: set[str] = set()
    for task, share in _shares({task: len(some) for task, some in by_task.items()}, limit).items():
        ids = sorted(by_task[task])
        rng(seed, task, "audit_select").shuffle(ids)
        chosen.update(ids[:share])
    return chosen


def audit_items(
    items: Sequence[Item],
    blocked: set[str],
    panel: Panel,
    journal: Journal,
    progress: Callable[[int], None] = lambda _: None,
    *,
    variant: int = 0,
    blind: bool = False,
) -> list[Audit]:
    """Both auditors' audits of every item that is not blocked, item by item in the order given.

    Args:
        items: The items selected for auditing.
        blocked: Ids with a blocking finding; they cost no call.
        panel: The auditors.
        journal: Where answered calls are kept and found again.
        progress: Called with 1 after each item.
        variant: Another number asks the same questions anew.
        blind: Have each auditor answer the items too, without seeing the gold.

    Raises:
        ExternalFailure: An auditor can't be reached, died or has spent its budget, or too many of its first
            replies are unusable. No item is judged on one vote; answered calls are kept.
    """
    asked = [item for item in items if item.id not in blocked]
    streams = [
        model.ask_all(all_requests(asked, model, blind=blind, variant=variant), journal)
        for model in panel.models
    ]
    audits = []
    try:
        for item in asked:
            for name, counted, replies in zip(panel.names, panel.first_replies, streams, strict=True):
                reply = next(replies)
                counted.see(reply, journal)
                audit = _audit(name, reply)
                audits.append(
                    _with_blind_answer(audit, item, next(replies)) if _is_blind(item, blind) else audit
                )
            progress(1)
        for counted in panel.first_replies:
            counted.end(journal)
    finally:
        # Closing waits for calls already sent, so that a failure of one auditor loses no answer of the other.
        for stream in streams:
            stream.close()
        if any(counted.stopped for counted in panel.first_replies):
            journal.ask_again()
    return audits


def verdicts(
    items: Sequence[Item],
    findings: Sequence[Finding],
    audits: Sequence[Audit],
    policy: Policy,
    selected: Set[str],
) -> list[Verdict]:
    """One verdict per item, in their order.

    Raises:
        ValueError: A selected item that no finding blocks lacks one of its two audits (a bug upstream).
    """
    found = grouped(findings, lambda finding: finding.subject)
    opinions = grouped(audits, lambda audit: audit.item)
    return [
        verdict(
            item.id,
            found.get(item.id, ()),
            opinions.get(item.id, ()) if item.id in selected else None,
            policy,
        )
        for item in items
    ]


def estimate(
    items: Sequence[Item], panel: Panel, journal: Journal, *, blind: bool = False, tokenise: bool = True
) -> Estimate:
    """Calls, prompt tokens, cost and hours that auditing these items would take now.

    With `tokenise` the servers count the tokens, which starts them; else they follow from the letters.
    """
    calls = cached = tokens = 0
    bases = set()
    slowest = (0.0, 0.0, False)
    costs: dict[str, Cost] = {}
    unpriced: list[str] = []
    for model in panel.models:
        new = []
        for asked in all_requests(items, model, blind=blind):
            if model.known(model.key(asked), journal) is not None:
                cached += 1
            else:
                new.append("\n".join(message["content"] for message in asked.messages))
        calls += len(new)
        if new:
            counted, basis = _tokens(model if tokenise else None, new)
            slowest = max(slowest, _hours(model, len(new), journal))
            tokens += counted
            bases.add(basis)
            price = model.config.price
            if price is None:
                unpriced.append(model.config.name)
                continue
            before = costs.get(price.currency, Cost(currency=price.currency, prompts=0, most=0))
            costs[price.currency] = Cost(
                currency=price.currency,
                prompts=before.prompts + price.of(counted, 0),
                most=before.most + price.of(counted, len(new) * model.config.sampling.max_tokens),
            )
    basis = next(
        (name for name in ("characters", "tokenised sample", "tokenised") if name in bases), "tokenised"
    )
    return Estimate(
        calls=calls,
        cached=cached,
        prompt_tokens=tokens,
        basis=basis,
        costs=tuple(costs.values()),
        unpriced=tuple(unpriced),
        hours=slowest[0],
        seconds=slowest[1],
        measured=slowest[2],
        cap=panel.cap,
        spent=panel.spent,
    )


def _hours(model: Model, calls: int, journal: Journal) -> tuple[float, float, bool]:
    """Hours of so many calls, seconds of each, and whether these were measured."""
    serve = model.config.serve
    slots = model.config.limits.concurrency * (len(serve.endpoints) if isinstance(serve, Remote) else 1)
    if isinstance(serve, Embedded):
        slots = min(slots, serve.slots)
    known = [one.latency for one in journal.entries() if one.model in model.config.names]
    seconds = sum(known) / len(known) if len(known) >= MEASURED else ASSUMED_SECONDS
    return calls * seconds / min(slots, calls) / 3600, seconds, len(known) >= MEASURED


def same_family(
    wrote: Iterable[tuple[str, str]], audits: Iterable[Audit], auditors: Iterable[ModelConfig]
) -> dict[str, int]:
    """How many items each auditor judged of which a model of its own family wrote a part.

    `wrote` are ids of items, each with the family of the model that wrote a part of it, or nothing.
    """
    written = {item: family.casefold() for item, family in wrote if family}
    families = {one.name: one.family.casefold() for one in auditors}
    own = Counter(one.auditor for one in audits if written.get(one.item) == families.get(one.auditor, ""))
    return {name: own[name] for name in families}


def request(
    item: Item, variant: int = 0, form: ReplyForm = "scores", *, lenient: bool = False
) -> Request[Opinion]:
    """What an auditor is asked about one item, in the form its config names."""
    return Request(
        tag=item.id,
        messages=messages(item, form),
        schema=schema(form),
        validate=short_opinion if form == "issues" else opinion,
        name="audit",
        meta={**described(item, form), "schema_digest": schema_digest(form)},
        variant=variant,
        lenient=lenient,
    )


def all_requests(
    items: Iterable[Item], model: Model, *, blind: bool, variant: int = 0
) -> Iterator[Request[Any]]:
    """Everything that one auditor is asked about these items."""
    for item in items:
        yield request(item, variant, model.config.reply_form, lenient=model.config.lenient)
        if _is_blind(item, blind):
            yield blind_request(item, variant, lenient=model.config.lenient)


def _is_blind(item: Item, blind: bool) -> bool:
    """Whether the auditors answer the item too."""
    return blind and can_be_asked(item)


def _with_blind_answer(audit: Audit, item: Item, reply: Reply[str]) -> Audit:
    """The audit with the auditor's own answer; one that can't be used says nothing."""
    answer = reply.value or ""
    told = {"blind_answer": answer, "blind_differs": bool(answer) and differs(item, answer)}
    return audit.model_copy(update=told)


def _audit(auditor: str, reply: Reply[Opinion]) -> Audit:
    if reply.value is None:
        return Audit(
            item=reply.tag, auditor=auditor, status="invalid", reply_key=reply.key, problem=reply.problem
        )
    opinion = reply.value
    spoken = foreign_language(" ".join(issue.explanation for issue in opinion.issues))
    notes = (
        opinion.repaired,
        f"{TAKEN_OFF}{', '.join(reply.taken)}" if reply.taken else "",
        f"{EXPLAINED_IN}{spoken}" if spoken else "",
    )
    return Audit(
        item=reply.tag,
        auditor=auditor,
        status="repaired" if opinion.repaired or reply.taken else "valid",
        scores=opinion.scores,
        issues=opinion.issues,
        reply_key=reply.key,
        problem="; ".join(filter(None, notes)),
    )


def _shares(sizes: dict[str, int], limit: int) -> dict[str, int]:
    """Splits `limit` in proportion to sizes, one for each task first if there are enough to go round."""
    total = sum(sizes.values())
    floor = 1 if limit >= len(sizes) else 0
    shares = {task: max(floor, limit * size // total) for task, size in sizes.items()}
    by_rest = sorted(sizes, key=lambda task: (-(limit * sizes[task] % total), task))
    while sum(shares.values()) < limit:
        for task in by_rest:
            if sum(shares.values()) < limit and shares[task] < sizes[task]:
                shares[task] += 1
    while sum(shares.values()) > limit:
        largest = max(shares, key=lambda task: (shares[task], task))
        shares[largest] -= 1
    return shares


def _tokens(model: Model | None, texts: Sequence[str]) -> tuple[int, str]:
    """Tokens of all texts; a sample is tokenised by the server and scaled by length where there are many."""
    step = max(1, len(texts) // TOKENISED)
    drawn = texts[::step]
    counts = model.count_tokens(drawn) if model is not None else None
    if counts is None:
        # Without a tokeniser: 4 Latin or 2 other characters to a token, on the safe side for large models.
        return sum(_by_characters(text) for text in texts), "characters"
    if len(drawn) == len(texts):
        return sum(counts), "tokenised"
    ratio = sum(counts) / max(1, sum(map(len, drawn)))
    return round(ratio * sum(map(len, texts))), "tokenised sample"


def _by_characters(text: str) -> int:
    latin = sum(character < "\u0250" for character in text)
    return latin // 4 + (len(text) - latin) // 2 + 1


_WORD: Final = re.compile(r"[^\W\d_]+")
_LEAST: Final = 3
"""Words of a language from which it is told: explanations are short."""
_LEAD: Final = 2
"""How many times as many there must be as of English."""


@cache
def _words() -> dict[str, frozenset[str]]:
    """Language to its words."""
    told: dict[str, str] = load_yaml(Path(__file__).with_name("languages.yaml"))
    return {name: frozenset(words.split()) for name, words in told.items()}


def foreign_language(text: str) -> str:
    """The language of explanations that are in none of English, Arabic and Persian; empty where none is told.

    A language is told by its function words: three and more, and twice as many as of English. Words that an
    Arabic or Persian explanation quotes tell none. Letters of neither script are refused before
    (`reply.opinion`).
    """
    if language_evidence(text).language == "ur":
        return "Urdu"
    words = [word.casefold() for word in _WORD.findall(text)]
    latin = [word for word in words if word < "\u0590"]
    if 2 * len(latin) <= len(words):
        return ""
    seen = Counter(latin)
    hits = {name: sum(seen[word] for word in words) for name, words in _words().items()}
    english = hits.pop("English")
    name = max(hits, key=lambda one: hits[one])
    return name if hits[name] >= max(_LEAST, _LEAD * english + 1) else ""
