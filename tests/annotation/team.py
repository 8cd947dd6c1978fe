"""A review by six simulated people, whom pushes and pulls as they are ask: checks, disputes and doubts."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace

from mihakk.annotation.decisions.store import add, decisions, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.annotation.label_studio.benchmark_push import queue_tasks
from mihakk.annotation.label_studio.exchange import ReviewPulled, _more, _open_votes
from mihakk.annotation.label_studio.pull import Pulled
from mihakk.annotation.screens.labelling import labelling
from mihakk.annotation.statistics.auditor_errors import Annotator, annotators
from mihakk.annotation.statistics.sampling import SOUND, Queued
from mihakk.schemas.benchmark import ReviewConfig
from mihakk.schemas.review import Review
from tests.annotation.judged import answer, verdict

START = datetime(2025, 3, 1, 8, tzinfo=UTC)
SKILLS = {"careful": (0.9, 0.92), "other": (0.85, 0.9), "leaver": (0.85, 0.9), "keeper": (0.15, 0.98)}
"""True shares of defective items found and of sound ones kept; all others are as the careful."""
PEOPLE = ("careful", "other", "guesser", "leaver", "keeper", "copier")
ITEMS = [answer(n, answer=f"ناولها{n}", accepted=()) for n in range(440)]
PROJECT = SimpleNamespace(labelling=labelling("quality_review", "fa"), language="fa", dialect="", overlap=2)


class Team:
    """Six people at work; the leaver stops after a third.

    `guesser` and `copier` are the shares of their answers that two people guess and copy; else they judge as
    the careful one does.
    """

    def __init__(
        self, seed: int, folder: str, config: ReviewConfig, *, size: int = 240, guesser: float, copier: float
    ) -> None:
        self.draw, self.seed, self.config = random.Random(seed), seed, config
        self.stores, self.size = Stores.under(folder), size
        self.guesser, self.copier = guesser, copier
        self.items = ITEMS[: size + 200]
        self.verdicts = [verdict(one.id, "flag" if n < size else "pass") for n, one in enumerate(self.items)]
        self.bad = {one.id: self.draw.random() < 0.3 for one in self.items}
        self.wanted: dict[tuple[str, str], int] = defaultdict(lambda: config.overlap)
        self.said: dict[tuple[str, str], dict[str, bool]] = defaultdict(dict)
        self.given = 0
        self.pulled = ReviewPulled()

    def work(self, chunk: int) -> Iterator[list[Annotator]]:
        """What is said of each person after each pull; people answer `chunk` tasks between two."""
        while True:
            tasks, _ = queue_tasks(
                self.items,
                self.verdicts,
                [],
                audits=[],
                stores=self.stores,
                seed=self.seed,
                config=self.config,
            )
            known = {row.item: row.known for row in stored(self.stores.queued, Queued) if row.known}
            keys = [(task["data"]["sample_id"], task["data"]["content_hash"]) for task in tasks]
            waiting = [key for key in keys if len(self.said[key]) < self.wanted[key]]
            rows = [row for key in waiting[:chunk] for row in self._answers(key, known)]
            add(self.stores.decisions, Review, rows)
            votes = _open_votes([], pulled := ReviewPulled(), self.stores, self.config)
            for key, more in _more(PROJECT, Pulled(), votes, self.stores, self.config).items():
                if len(self.said[key]) >= self.wanted[key]:
                    self.wanted[key] = len(self.said[key]) + more
            self.pulled = pulled
            yield annotators(decisions(self.stores), stored(self.stores.queued, Queued))
            if not rows:
                return

    def _answers(self, key: tuple[str, str], known: dict[str, str]) -> Iterator[Review]:
        """Those still missing; of two who are asked first the careful one is mostly followed by the copier."""
        said, draw = self.said[key], self.draw
        able = [one for one in PEOPLE if one != "leaver" or self.given < self.size]
        if said:
            asked = [one for one in draw.sample(able, len(able)) if one not in said]
        else:
            asked = draw.sample([one for one in able if one != "copier"], 2)
            if "careful" in asked and draw.random() < 0.8:
                asked = ["careful", "copier"]
        bad = known[key[0]] != SOUND if key[0] in known else self.bad[key[0]]
        for person in asked[: self.wanted[key] - len(said)]:
            finds, spares = SKILLS.get(person, SKILLS["careful"])
            objects = draw.random() < finds if bad else draw.random() >= spares
            if person == "guesser" and draw.random() < self.guesser:
                objects = draw.random() < 0.5
            if person == "copier" and "careful" in said and draw.random() < self.copier:
                objects = said["careful"]
            said[person] = objects
            self.given += 1
            yield Review(
                item=key[0],
                content_hash=key[1],
                annotator=person,
                decision="discard" if objects else "keep",
                reason="ambiguous" if objects else None,
                decided_at=START + timedelta(minutes=self.given),
                seconds=30 * draw.uniform(0.6, 1.6),
            )
