"""Figures that a model computes, tried with a tiny model made here: the arithmetic is tested, not the model.

Torch takes seconds to import, so only a worker that runs these tests does it.
"""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mihakk.evaluation.metrics._overlap import fann_or_flop_fold
from mihakk.evaluation.metrics.metric import METRICS, Case, Metric
from mihakk.evaluation.reading import read
from mihakk.machinery.errors import UsageError
from tests.evaluation.material import EXPLANATIONS, explained, worded

if find_spec("sentence_transformers") is None:
    pytest.skip("needs sentence-transformers (the extra `metrics`)", allow_module_level=True)
LETTERS = "ابتثجحخدذرزسشصضطظعغفقكلمنهويءةىأإآ."
REPLY = f"1. {EXPLANATIONS[1]}\n3. {EXPLANATIONS[2]}"


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A random BERT of two layers with three classes, and a tokenizer of single letters."""
    import torch
    import transformers

    folder = tmp_path_factory.mktemp("tiny")
    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *LETTERS, *(f"##{letter}" for letter in LETTERS)]
    (folder / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    transformers.BertTokenizerFast(str(folder / "vocab.txt"), strip_accents=False).save_pretrained(folder)
    torch.manual_seed(1)
    config = transformers.BertConfig(
        vocab_size=len(words),
        hidden_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=64,
        label2id={"contradiction": 0, "entailment": 1, "neutral": 2},
        id2label={0: "contradiction", 1: "entailment", 2: "neutral"},
    )
    transformers.BertForSequenceClassification(config).save_pretrained(folder)
    return folder


def with_options(name: str, **options: str) -> Metric:
    metric = METRICS.get(name)
    return replace(metric, options={**metric.options, **options})


def values(metric: Metric, *cases: Case) -> list[float | None]:
    return [one.value for one in metric.score(cases)]


def poem() -> Case:
    question = explained()
    return Case(question, read(question, "written", REPLY), REPLY)


def answer(gold: str, reply: str) -> Case:
    question = worded(answer=gold)
    return Case(question, read(question, "written", reply), reply)


def vectors(folder: Path, text: str, layer: int) -> tuple[Any, Any]:
    """Unit vectors of every token, and the places of those between the first and last."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModel.from_pretrained(folder).eval()
    with torch.no_grad():
        found = model(**tokenizer(text, return_tensors="pt"), output_hidden_states=True)
    rows = found.hidden_states[layer][0].numpy()
    rows = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return rows, range(1, len(rows) - 1)


def f1(folder: Path, written: str, gold: str, layer: int) -> float:
    """BERTScore by its definition, token by token."""
    (one, own), (other, its) = vectors(folder, written, layer), vectors(folder, gold, layer)
    precision = np.mean([max(float(one[i] @ row) for row in other) for i in own])
    recall = np.mean([max(float(other[j] @ row) for row in one) for j in its])
    return float(2 * precision * recall / (precision + recall))


def test_bertscore_is_greedy_matching_verse_by_verse_with_a_missing_verse_as_nothing(tiny: Path) -> None:
    metric = with_options("bertscore", model=str(tiny), layer="1")
    expected = (
        f1(tiny, EXPLANATIONS[1], EXPLANATIONS[0], 1) + 0 + f1(tiny, EXPLANATIONS[2], EXPLANATIONS[2], 1)
    ) / 3
    assert values(metric, poem()) == [pytest.approx(expected, abs=1e-5)]
    assert values(metric, answer("نعم", "نعم")) == [1.0]


def test_a_score_does_not_depend_on_its_batch_or_block(tiny: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    metric = with_options("bertscore", model=str(tiny), layer="2")
    cases = [answer("طال الليل", "ليل طويل"), answer(EXPLANATIONS[0], EXPLANATIONS[1]), poem()] * 14
    together = values(metric, *cases)
    assert together[:3] == together[-3:]
    assert [values(metric, case)[0] for case in cases[:3]] == pytest.approx(together[:3], abs=2e-6)
    monkeypatch.setattr("mihakk.evaluation.metrics.bertscore.BLOCK", 4)
    assert values(metric, *cases) == pytest.approx(together, abs=2e-6)


def chance(folder: Path, premise: str, hypothesis: str) -> float:
    """The model's own probability of entailment."""
    import torch
    import transformers

    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    with torch.no_grad():
        logits = model(**tokenizer(premise, hypothesis, return_tensors="pt")).logits[0]
    return float(logits.softmax(dim=-1)[1])


def test_entailment_is_the_models_own_and_its_directions_stay_apart(tiny: Path) -> None:
    metric = with_options("entailment", model=str(tiny))
    (found,) = metric.score([poem()])
    pairs = [(EXPLANATIONS[0], EXPLANATIONS[1]), (EXPLANATIONS[2], EXPLANATIONS[2])]
    assert found.value == pytest.approx(sum(chance(tiny, gold, own) for gold, own in pairs) / 3, abs=1e-5)
    back = sum(chance(tiny, own, gold) for gold, own in pairs) / 3
    assert found.detail["to_reference"] == pytest.approx(back, abs=1e-5)
    both = with_options("entailment_compat", model=str(tiny))
    folded = [fann_or_flop_fold(one) for one in EXPLANATIONS]
    in_order = json.dumps([{"verse": "بيت", "explanation": EXPLANATIONS[1]}], ensure_ascii=False)
    question = explained()
    case = Case(question, read(question, "written", in_order), in_order)
    expected = (chance(tiny, folded[0], folded[1]) + chance(tiny, folded[1], folded[0])) / 2
    assert values(both, case) == [pytest.approx(expected, abs=1e-5)], (
        "the first with the first, whatever the verse"
    )
    assert values(both, Case(question, read(question, "written", "لا أدري"), "لا أدري")) == [None]


def test_what_is_no_entailment_model_is_refused(tiny: Path, tmp_path: Path) -> None:
    import transformers

    model = transformers.AutoModelForSequenceClassification.from_pretrained(tiny)
    model.config.label2id, model.config.id2label = {"a": 0, "b": 1, "c": 2}, {0: "a", 1: "b", 2: "c"}
    model.save_pretrained(tmp_path)
    transformers.AutoTokenizer.from_pretrained(tiny).save_pretrained(tmp_path)
    with pytest.raises(UsageError, match="not an entailment model"):
        values(with_options("entailment", model=str(tmp_path)), poem())
    with pytest.raises(UsageError, match="layer 9"):
        values(with_options("bertscore", model=str(tiny), layer="9"), poem())
    with pytest.raises(UsageError, match="can't be loaded"):
        values(with_options("bertscore", model=str(tmp_path / "none"), layer="1"), poem())


def test_similarity_is_a_cosine_and_ranks_nobody() -> None:
    metric = METRICS.get("similarity")
    same, other = values(metric, answer("طال الليل", "طال الليل"), answer("طال الليل", "انتهى الدرس"))
    assert same == pytest.approx(1.0, abs=1e-5)
    assert other is not None
    assert other < 1.0
    assert not metric.ranks
