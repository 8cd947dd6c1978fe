"""Seconds to score stored replies again, and to compare systems by the scores.

    python -m performance.evaluation [REPLIES]

A million replies (or `REPLIES`) to 50,000 questions are made with a fixed seed: choices with labels in every
dress the rules know, some unreadable, some after long reasoning; recalled lines with other letters. They
are scored from file to file in one process; then 20 systems are compared on 50,000 items with 2,000 cluster
bootstraps and 10,000 sign flips for each of 190 pairs. Exits 1 when a stated goal is missed.
"""

from __future__ import annotations

import multiprocessing
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from performance._measure import peak_mb, verdict

SEED = 20261201
REPLIES = 1_000_000
QUESTIONS = 50_000
CHOICE_GOAL, RECALL_GOAL, TABLE_GOAL = 120.0, 300.0, 60.0
"""Seconds; of one core, for a million replies, the first two."""
MEMORY_GOAL = 1024.0
"""MB, of re-scoring."""
OPTIONS = ("وقوف في المكان طويلا", "الرجوع بالخيبة والندم", "كثرة الكلام بلا فائدة", "السرعة في قضاء الحاجة")
LABELS = ("أ", "ب", "ج", "د")
LINES = (
    "الا یا ایها الساقی ادر کاسا و ناولها",
    "که عشق آسان نمود اول ولی افتاد مشکل‌ها",
    "ببین تفاوت ره از کجاست تا به کجا",
)
DRESSES = (
    "{label}",
    "**{label}**",
    "({label})",
    "{label}) {words}",
    "الإجابة: {label}",
    "الإجابة الصحيحة هي: {label}) {words} لأن المعنى كناية عن ذلك",
    "<answer>{label}</answer>",
    "<think>" + "لننظر في الخيارات واحدا واحدا ثم نحكم. " * 20 + "</think>\n{label}",
    "ننظر في الخيارات:\nأ) بعيد\nب) قريب\nج) محتمل\nد) لا يصح\nإذن الجواب هو {label}.",
    "{words}",
    "لا أعرف الجواب الصحيح لهذا السؤال.",
    "",
)


def main() -> int:
    """Print every figure; 1 when a goal is missed."""
    replies = int(sys.argv[1]) if len(sys.argv) > 1 else REPLIES
    share = replies / REPLIES
    met = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for kind, metrics, goal in (
            ("choice", ("accuracy",), CHOICE_GOAL),
            ("recall", ("recall", "exact", "cer"), RECALL_GOAL),
        ):
            apart(prepare, place, kind, replies)
            seconds, memory = apart(rescore, place, kind, metrics, replies)
            told = f"{seconds:.1f} s of one core, {memory:.0f} MB"
            print(f"scoring {replies:,} stored replies again ({kind}: {', '.join(metrics)}): {told}")
            met.append(judge(f"{goal * share:.0f} s", seconds <= goal * share))
            met.append(judge(f"{MEMORY_GOAL:.0f} MB", memory <= MEMORY_GOAL))
        seconds, memory = apart(compare, place)
        systems = replies // QUESTIONS
        print(f"comparing {systems} systems on {QUESTIONS:,} items: {seconds:.1f} s, {memory:.0f} MB")
        met.append(judge(f"{TABLE_GOAL:.0f} s", seconds <= TABLE_GOAL))
    return 0 if all(met) else 1


def judge(goal: str, is_met: bool) -> bool:
    """One goal, in words."""
    print(f"  goal {goal}: {verdict(is_met)}", flush=True)
    return is_met


def apart(work: Callable[..., float], *arguments: Any) -> tuple[float, float]:
    """Seconds and most memory (MB) of some work in a process of its own."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        return pool.apply(_measured, (work, *arguments))


def _measured(work: Callable[..., float], *arguments: Any) -> tuple[float, float]:
    seconds = work(*arguments)
    return seconds, peak_mb()


def prepare(folder: Path, kind: str, replies: int) -> float:
    """Makes the file of answers, which is not measured."""
    from evaluation.rows import write_batches
    from schemas.evaluation import Answer

    write_batches(folder / f"{kind}.parquet", _answers(kind, list(_questions(kind)), replies), Answer)
    return 0.0


def rescore(folder: Path, kind: str, metrics: tuple[str, ...], replies: int) -> float:
    """Processor seconds from a file of answers to one of scores."""
    from evaluation.scoring import metrics_named, score_file

    questions = {one.item: one for one in _questions(kind)}
    start = time.process_time()
    counts = score_file(
        folder / f"{kind}.parquet", questions, metrics_named(metrics), folder / f"{kind}-scores.parquet"
    )
    seconds = time.process_time() - start
    assert counts["answers"] == replies
    return seconds


def compare(folder: Path) -> float:
    """Seconds from the file of scores to all tables."""
    from evaluation.table import load_scores, results

    start = time.perf_counter()
    found = results(load_scores([folder / "choice-scores.parquet"]))
    seconds = time.perf_counter() - start
    assert len(found.pairs) == len(found.cells) * (len(found.cells) - 1) // 2
    return seconds


def _questions(kind: str) -> Iterator[Any]:
    from schemas.evaluation import Question

    draw = random.Random(f"{SEED} {kind}")
    for number in range(QUESTIONS):
        common = {
            "item": f"{kind}-{number}",
            "content_hash": f"{number:064x}",
            "release": "benchmark",
            "version": "1.0.0",
            "digest": "d" * 64,
            "config": kind,
            "task": kind,
            "group": f"g{number // 4}",
        }
        if kind == "choice":
            yield Question(
                **common,
                kind="choice",
                language="ar",
                pair_id=f"p{number // 2}",
                order=number % 2,
                options=tuple(draw.sample(OPTIONS, 4)),
                labels=LABELS,
                gold=(draw.randrange(4),),
            )
        else:
            line = f"{draw.choice(LINES)} {number}"
            yield Question(**common, kind="answer", language="fa", ability="recall", answer=line)


def _answers(kind: str, questions: list[Any], replies: int) -> Iterator[Any]:
    """Batches of answers: every system answers every question in turn."""
    from evaluation.rows import BATCH
    from mihakk.lake.columns import to_table
    from schemas.evaluation import Answer, AskedItem

    draw = random.Random(f"{SEED} replies")
    facts = [{name: getattr(one, name) for name in AskedItem.model_fields} for one in questions]
    for start in range(0, replies, BATCH):
        rows = []
        for number in range(start, min(replies, start + BATCH)):
            system, place = divmod(number, len(questions))
            reply = _reply(draw, kind, questions[place], system)
            name = f"system-{system:02}"
            rows.append(Answer.model_construct(**facts[place], model=name, reply=reply, finish_reason="stop"))
        yield from to_table(rows, Answer).to_batches()


def _reply(draw: random.Random, kind: str, question: Any, system: int) -> str:
    is_right = draw.random() < 0.3 + 0.03 * system
    if kind == "choice":
        pick = question.gold[0] if is_right else draw.randrange(4)
        return draw.choice(DRESSES).format(label=LABELS[pick], words=question.options[pick])
    line = question.answer if is_right else draw.choice(LINES)
    return f"<answer>{line.replace('ک', 'ك') if draw.random() < 0.3 else line}</answer>"


if __name__ == "__main__":
    sys.exit(main())
