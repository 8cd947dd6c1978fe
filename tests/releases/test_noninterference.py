"""Nothing public depends on what is sealed: one benchmark built in two worlds that differ in that alone.

In the other world every sealed item has another gold, other credits and metadata, another source, and was
judged otherwise by checks, auditors and people. The public files must be the same byte for byte. A keyed
digest of the gold has to differ; it is replaced by an ideal one, that says only whether the content is the
same as before, and what is passed to it is counted by name.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import content_hash
from mihakk.machinery.settings import settings
from mihakk.releases.assemble import AssembledRelease, assemble
from mihakk.releases.content import blind, secret
from mihakk.releases.content.blind import find_answers, read_answers
from mihakk.releases.content.checksum import MANIFEST, read_manifest
from mihakk.releases.hub.embedded import EmbeddedHub
from mihakk.releases.paper_trail.errata import report_defect
from mihakk.releases.release_facts import AgreementFact, AuditorFact, MissRateFact
from mihakk.schemas.audit import CRITERIA, Audit, Issue, Verdict
from mihakk.schemas.blind import FinalFigure
from mihakk.schemas.campaign import CampaignFigure
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import AnswerItem, ChoiceItem, ExplanationItem, Item, Origin
from mihakk.schemas.quality import Baseline, ValueSpread
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.review import HumanAccuracy, Resolution, ReviewedContent, Vote
from tests.evaluation.test_blind_board import MONDAY, OVER, board, many, sent
from tests.evaluation.test_blind_board import answers as answered
from tests.releases.attacker import rows as public_rows
from tests.releases.release_material import FACTS, divan, release_arguments

SECRET = "a secret of enough characters"
KEY = SECRET.encode()
GENRES = ("غزل", "قصیده", "مدح", "رثا")


@cache
def corpus(ghazals: int = 120) -> tuple[Item, ...]:
    """Questions of four tasks on the ghazals, each about couplets of its own; golds drawn by lot."""
    draw = random.Random(3)  # nosec B311 # a fixture
    made: list[Item] = []
    for number in range(1, ghazals + 1):
        lines = divan()[number]
        first, second = lines[:2]
        record = f"divan:{number}:0"
        task = ("continuation_choice", "genre_choice", "continuation_completion", "verse_explanation")[
            number % 4
        ]
        common: dict[str, Any] = {
            "task": task,
            "language": "fa",
            "fields": {"first": first, "poet": "حافظ"},
            "metadata": {"poet": "حافظ", "genre": GENRES[number % 3], "gold_from": "source"},
            "licence": "public-domain",
            "attribution": f"Divan, ghazal {number}",
            "origin": Origin(
                records=(record,), generator=task, generator_version="1", seed=7, strategy="same_metre"
            ),
        }
        if task == "continuation_choice":
            options = [second, lines[3], lines[5]]
            place = draw.randrange(3)
            for order in (0, 1):
                turned = options[order:] + options[:order]
                gold = turned.index(options[place])
                kinds = tuple("right" if one == gold else "same_poem" for one in range(3))
                made.append(
                    ChoiceItem(
                        id=f"fa-{task}-{number:015x}{order}",
                        question=f"مصراع دوم این بیت کدام است؟ «{first}»",
                        options=tuple(turned),
                        gold=(gold,),
                        option_kinds=kinds,
                        pair_id=f"fa-{task}-{number:015x}f",
                        order=order,
                        **common,
                    )
                )
        elif task == "genre_choice":
            made.append(
                ChoiceItem(
                    id=f"fa-{task}-{number:016x}",
                    question=f"این مصراع از چیست؟ «{first}»",
                    options=GENRES[:2],
                    gold=(draw.randrange(2),),
                    option_kinds=("other_label", "other_label"),
                    **common,
                )
            )
        elif task == "continuation_completion":
            made.append(
                AnswerItem(
                    id=f"fa-{task}-{number:016x}",
                    question=f"مصراع دوم را بنویس: «{first}»",
                    answer=second,
                    accepted=(second[::-1],),
                    **common,
                )
            )
        else:
            made.append(
                ExplanationItem(
                    id=f"fa-{task}-{number:016x}",
                    question="هر بیت را توضیح بده.",
                    verses=(first, second),
                    explanations=(f"شرح {number}", f"توضیح {number}"),
                    overall=f"خلاصه {number}",
                    **common,
                )
            )
    return tuple(made)


def otherwise(item: Item, work: str) -> Item:
    """The item with all that is sealed of it replaced: what is asked is the same.

    Args:
        work: The poem that all continuations are of, instead of each one's own.
    """
    number = int(item.origin.records[0].split(":")[1])
    own = f"{work}:{number}" if item.task == "continuation_choice" else item.origin.records[0]
    # Which works are asked about their labels together is settled before anything is asked.
    beside = () if item.task == "genre_choice" else (f"elsewhere-{item.id}:9",)
    elsewhere = divan()[250 + number]
    told: dict[str, Any] = {
        "metadata": {"poet": "سعدی", "era": "کهن", "genre": "غزل", "metre_from": "scansion", "own": "yes"},
        "fields": item.fields | {"poet": "سعدی", "own": elsewhere[2]},
        "licence": "CC-BY-4.0",
        "attribution": "somebody else",
        "subset": "elsewhere",
        "origin": item.origin.model_copy(
            update={"strategy": "written", "model": "m", "model_family": "qwen", "prompt_version": "9"}
            | {"records": (own, *beside), "seed": 8}
        ),
    }
    if isinstance(item, ChoiceItem):
        # The next option by what it says, so that both orders of a pair agree.
        ordered = sorted(item.options)
        right = ordered[(ordered.index(item.options[item.gold[0]]) + 1) % len(ordered)]
        gold = item.options.index(right)
        told |= {"gold": (gold,)}
        if "other_label" not in item.option_kinds:  # a class among classes in both worlds
            told["option_kinds"] = tuple(f"kind {(n - gold) % 3}" for n in range(len(ordered)))
    elif isinstance(item, AnswerItem):
        words = item.answer.split()
        told |= {"answer": " ".join([*reversed(words), *words]), "accepted": ()}
    else:
        told |= {"explanations": tuple(elsewhere[:2]), "overall": ""}
    return item.model_copy(update=told)


@dataclass
class World:
    """One build of the benchmark after another, each published on a Hub of its own."""

    folder: Path
    is_other: bool
    sealed: frozenset[str] = frozenset()
    """Items that the versions seal; in the other world they differ."""
    release: dict[str, Any] = field(default_factory=dict)
    """Settings of the release."""
    twins: dict[str, str] = field(default_factory=dict)
    """Content hash of an item in this world -> that in the first one."""

    @property
    def hub(self) -> EmbeddedHub:
        return EmbeddedHub(self.folder / "hub")

    def differs(self, item: str) -> bool:
        return self.is_other and item in self.sealed

    def build(self, items: Sequence[Item], removed: Iterable[Rejection] = ()) -> AssembledRelease:
        """Assemble and publish a version, as the release step does."""
        work = next((one.origin.records[0][:-2] for one in items if self.differs(one.id)), "")
        mine = tuple(otherwise(one, work) if self.differs(one.id) else one for one in items)
        for own, first in zip(mine, items, strict=True):
            asked = [content_hash(secret.public_form(KEY, one)) for one in (own, first)]
            self.twins[asked[0]] = asked[1]
        number = len(list(self.folder.glob("build*")))
        with self.hub.previous("touchstone") as previous:
            made = assemble(
                folder=self.folder / f"build{number}" / "release",
                previous=previous,
                earlier=self.hub.older("touchstone", self.folder / f"build{number}"),
                seals=replace(self.hub.seals("touchstone", blind=True), works={}),
                **self.arguments(mine, removed),
            )
        self.hub.publish(made)
        return made

    def arguments(self, items: tuple[Item, ...], removed: Iterable[Rejection]) -> dict[str, Any]:
        """What checks, auditors and people said; of what is sealed, something else in the other world."""
        given = release_arguments(items, **self.release)
        given["removed"] = [*given["removed"], *removed]
        given["verdicts"], given["audits"], given["resolutions"] = [], [], []
        votes: list[Vote] = []
        reviewed: list[ReviewedContent] = []
        for place, item in enumerate(items):
            kind = (place + self.differs(item.id)) % 4
            given["verdicts"].append(
                Verdict(
                    item=item.id,
                    status="flag" if kind == 1 else "pass",
                    audited=kind != 3,
                    policy="strict",
                    reasons=("critical", "CH03") if kind == 1 else (),
                    rules={"critical": kind == 1, "invalid_reply": kind == 2, "flag_finding": kind == 1},
                )
            )
            if kind == 1:
                given["resolutions"].append(
                    Resolution(item=item.id, outcome="keep", by="agreement", votes=2 + self.differs(item.id))
                )
            given["audits"] += self.audits(item, kind)
            given["findings"].append(
                Finding(
                    check=f"XX0{kind}", severity="report", subject=item.id, detail=f"seed {item.origin.seed}"
                )
            )
            content = {"item": item.id, "content_hash": content_hash(item)}
            reviewed.append(ReviewedContent(**content, sampled=True, votes_needed=1))
            votes.append(
                Vote(**content, vote=1, voter=1, decision=("keep", "keep", "fix", "discard")[kind],
                     first=True, last=True, adjudicator=False)
            )  # fmt: skip
        given["facts"] = self.facts(given["audits"], votes).model_copy(
            update={"reviewed": tuple(reviewed), "votes": tuple(votes)}
        )
        return given

    def audits(self, item: Item, kind: int) -> Iterator[Audit]:
        for auditor in ("first", "second"):
            if kind == 2 and auditor == "second":
                yield Audit(item=item.id, auditor=auditor, status="invalid", reply_key="k", problem="no JSON")
                continue
            scores = dict.fromkeys(CRITERIA, 1)
            bad = kind == 1 and auditor == "second"
            scores["answer_alignment"] = int(not bad)
            issue = Issue(criterion="answer_alignment", explanation=f"right is {item.origin.seed}")
            yield Audit(
                item=item.id, auditor=auditor, status="valid", scores=scores, issues=(issue,) * bad,
                reply_key=f"{item.origin.seed}", blind_answer="ABCD"[kind], blind_differs=kind == 1,
            )  # fmt: skip

    def facts(self, audits: list[Audit], votes: list[Vote]) -> Any:
        """Every figure that a build draws from all items, so that the sealed ones move each."""
        bad = sum(one.decision != "keep" for one in votes) + self.is_other
        invalid = sum(one.status == "invalid" for one in audits) + self.is_other
        share = bad / len(votes)
        measure: dict[str, Any] = {"task": "genre_choice", "language": "fa"}
        spread = dict.fromkeys(("mean", "p05", "p25", "median", "p75", "p95"), share)
        agreed = AgreementFact(
            value=share, observed=share, ac1=share, items=bad, annotators=2 + self.is_other
        )
        accuracy: dict[str, Any] = {"group": "genre_choice", "questions": bad, "answers": bad, "unknown": 1}
        figure: dict[str, Any] = {"template": "distractor_rating", "group": "all", "figure": "mean"}
        return FACTS.model_copy(
            update={
                "auditors": tuple(
                    AuditorFact(
                        name=name, family="qwen", model="m", replies=9, invalid=invalid, own_family=bad
                    )
                    for name in ("first", "second")
                ),
                "baselines": (
                    Baseline(
                        **measure, name="longest", questions=40, accuracy=share, chance=0.5, low=0, high=1
                    ),
                ),
                "spreads": (ValueSpread(**measure, strategy="s", measure="letters", options=9, **spread),),
                "auditor_agreement": tuple(
                    one.model_copy(update={"observed": share, "ac1": share})
                    for one in FACTS.auditor_agreement
                ),
                "agreement": agreed,
                "criteria_agreement": (agreed.model_copy(update={"label": "answer_alignment"}),),
                "miss_rate": MissRateFact(
                    sampled=len(votes), defective=bad, rate=share, low=0, high=1, upper_bound=share
                ),
                "human_accuracy": (HumanAccuracy(**accuracy, accuracy=share, low=0, high=1),),
                "campaign_figures": (CampaignFigure(**figure, questions=bad, value=share),),
            }
        )


def answers(release: AssembledRelease) -> dict[str, dict[str, Any]]:
    return read_answers(find_answers(release.answers.folder if release.answers else release.folder))


def internal(release: AssembledRelease, items: Iterable[Item]) -> frozenset[str]:
    """Items that a version seals, by the ids that the pipeline calls them."""
    asked = {row["id"] for row in public_rows(release.folder) if row["sealed"]}
    return frozenset(one.id for one in items if secret.public_id(KEY, one.id) in asked)


def following(sealed: frozenset[str]) -> tuple[tuple[Item, ...], tuple[Rejection, ...]]:
    """The items after a round of reports: some left, some were corrected, some are new."""
    items: dict[str, Item] = {one.id: one for one in corpus(130)}
    for is_sealed in (True, False):
        some = [one for one in corpus() if (one.id in sealed) is is_sealed]
        for one in [one for one in some if isinstance(one, ChoiceItem)][:2]:
            del items[one.id]
        gold = next(one for one in reversed(some) if isinstance(one, AnswerItem))
        items[gold.id] = gold.model_copy(update={"answer": f"{gold.answer} درست"})
        worded = next(one for one in some if isinstance(one, AnswerItem))
        items[worded.id] = worded.model_copy(update={"question": f"{worded.question} (کامل)"})
    gone = sorted({one.id for one in corpus()} - items.keys())
    return tuple(items.values()), tuple(
        Rejection(record=name, source="hafez", reason="wrong_gold", detail="two people found it")
        for name in gone
    )


@dataclass(frozen=True)
class Twice:
    """A benchmark's two versions in both worlds."""

    one: World
    other: World
    made: tuple[tuple[AssembledRelease, AssembledRelease], ...]
    """Each version in one world and in the other."""
    committed: frozenset[str]
    """What digests by the secret that saw anything sealed are called."""


def built_twice(folder: Path, **release: Any) -> Twice:
    one, other = World(folder / "one", False, release=release), World(folder / "other", True, release=release)
    seen: set[str] = set()
    real = secret.keyed

    def ideal(key: bytes, purpose: str, text: str) -> str:
        own = other.twins.get(text, text)
        seen.update(() if own == text else (purpose,))
        return real(key, purpose, own)

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MIHAKK_BLIND_KEY", SECRET)
        settings.cache_clear()
        for module in (secret, blind):
            patch.setattr(module, "keyed", ideal)
        first = one.build(corpus())
        sealed = internal(first, corpus())
        items, removed = following(sealed)
        second = one.build(items, removed)
        other.sealed = sealed | internal(second, items)
        made = ((first, other.build(corpus())), (second, other.build(items, removed)))
    return Twice(one, other, made, frozenset(seen))


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Twice:
    return built_twice(tmp_path_factory.mktemp("worlds"), blind="repository", test_share=0.5)


def differing(one: AssembledRelease, other: AssembledRelease) -> set[str]:
    """Public files that are not the same."""
    files = [
        {path.relative_to(each.folder).as_posix(): path.read_bytes() for path in each.folder.rglob("*.*")}
        for each in (one, other)
    ]
    assert files[0].keys() == files[1].keys()
    return {name for name, data in files[0].items() if data != files[1][name]}


def test_the_worlds_differ_in_every_sealed_fact(twice: Twice) -> None:
    for one, other in twice.made:
        golds = [answers(each) for each in (one, other)]
        assert golds[0].keys() == golds[1].keys()
        assert len(golds[0]) >= 80
        for name, told in golds[0].items():
            beside = golds[1][name]
            assert told["content_hash"] != beside["content_hash"]
            assert all(
                told[part] != beside[part] for part in ("licence", "attribution", "metadata", "origin")
            )
    every = [one for one in corpus() if one.id in twice.other.sealed]
    fields = {name for one in every for name in type(one).model_fields} - {*blind.ASKED, "kind"}
    assert fields == {
        name
        for one in every
        for name in fields & type(one).model_fields.keys()
        if getattr(one, name) != getattr(otherwise(one, "a poem"), name)
    }, "a field is asked, or differs"
    assert one.diff is not None
    changed = {kind for kind, count in one.diff.counts.items() if count}
    assert {"added", "removed", "gold_changed", "text_changed"} <= changed, "and versions are compared"


def test_no_public_byte_depends_on_what_is_sealed(twice: Twice) -> None:
    for one, other in twice.made:
        assert differing(one, other) == set()
        assert "mihakk evaluate submit" in (one.folder / "README.md").read_text("utf-8"), (
            "a board can be held"
        )
    assert twice.committed == {"content"}, "digests by the secret that see anything sealed"


def test_nor_does_the_repository_on_the_hub_or_a_report_about_a_sealed_item(twice: Twice) -> None:
    """Commits stand for all files, their order, their modes and their times."""
    for version in twice.one.hub.versions("touchstone"):
        one, other = (world.hub.commit("touchstone", version) for world in (twice.one, twice.other))
        assert one == other
    row = next(row for row in public_rows(twice.made[0][0].folder) if row["sealed"])
    reports = [
        report_defect(
            each.folder, row["id"], "ambiguous", "Two of the options fit.", folder=world.folder / "e"
        )
        for each, world in zip(twice.made[0], (twice.one, twice.other), strict=True)
    ]
    assert reports[0].name == reports[1].name
    assert reports[0].read_bytes() == reports[1].read_bytes()


def test_encrypted_golds_alone_differ_and_the_manifest_that_names_them(tmp_path: Path) -> None:
    pyrage = pytest.importorskip("pyrage")
    recipient = str(pyrage.x25519.Identity.generate().to_public())
    twice = built_twice(tmp_path, blind="age", answers_recipient=recipient, test_share=0.5)
    for one, other in twice.made:
        golds = {"answers/test.parquet.age", "answers/seal.txt"}
        assert differing(one, other) == {*golds, MANIFEST}
        digests = [read_manifest(each.folder) for each in (one, other)]
        assert {name for name in digests[0] if digests[0][name] != digests[1][name]} == golds
    assert twice.committed == {"content"}


TOLD_BY_A_BOARD = {
    *("entries.figure", "entries.low", "entries.high", "entries.rank_low", "entries.rank_high"),
    *("entries.slices.era=e0", "entries.slices.era=e1"),
    # When it is over, a line has what the closing line of the log has.
    *(f"entries.{name}" for name in ("shown", "gap", "gap_low", "gap_high")),
    *(f"entries.{name}" for half in ("public", "other") for name in (half, f"{half}_low", f"{half}_high")),
    *("reply.figure", "reply.slices.era=e0", "reply.slices.era=e1"),
    *(
        f"finals.{name}"
        for name in FinalFigure.model_fields
        if name not in ("team", "model", "revision", "answers", "figures")
    ),
    *("before", "mac"),
}
"""All that a board and its log say that depends on golds: figures with noise, and digests of lines with them."""


def differences(one: Any, other: Any, place: str = "") -> set[str]:
    """Places in which two JSON values differ; those of a list's members are one."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        found = (differences(one[name], other[name], f"{place}.{name}") for name in one)
        return set().union(*found)
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return set().union(*(differences(*both, place) for both in zip(one, other, strict=True)))
    return set() if one == other else {place.lstrip(".")}


def test_a_board_tells_figures_and_nothing_else(tmp_path: Path) -> None:
    """The same files, refused ones and copies among them, on two boards whose golds differ."""
    asked = many(800)
    turned = {
        name: one.model_copy(update={"gold": ((one.gold[0] + 1) % 4,)}) if n % 3 else one
        for n, (name, one) in enumerate(asked.items())
    }
    replies = answered(asked, 0.7)
    files = [
        sent(replies, "r1"),
        sent(replies, "r2"),
        sent(answered(asked, 0.6, seed=2), "r1", team="beta"),
        sent(answered(asked, 0.4, seed=3), "r1", team="beta"),
        sent(replies, "r3", team="beta"),
    ]
    told: list[tuple[Any, list[Any]]] = []
    for place, questions in enumerate((asked, turned)):
        at = board(tmp_path / str(place), questions, slices=["era"], gain=0.5)
        for file in files:
            with suppress(UsageError):
                at.receive(file, now=MONDAY)
        before = at.standing()
        at.close(now=OVER)
        lines = [json.loads(line) for line in at.log.path.read_text("utf-8").splitlines()]
        told.append((before, [at.standing(), *lines]))
    found = differences(*(before for before, _ in told)) | differences(*(after for _, after in told))
    assert found <= TOLD_BY_A_BOARD
    assert {"entries.figure", "reply.figure", "finals.other", "before"} <= found
