"""Evidence reads as a sentence of the reader's language, and nothing it quotes can turn what stands around it."""

from __future__ import annotations

import re
from itertools import product

import pytest

from mihakk.annotation.screens.evidence import auditor_sentences, finding_sentence, isolated, sentences
from mihakk.schemas.finding import Finding
from mihakk.validators.checks import CHECKS
from tests.annotation.judged import audit
from tests.validators.checks.check_samples import samples

BAD = [sample for sample in samples() if sample.bad]


def outside_isolates(text: str) -> str:
    """What is left when everything between an isolate and its end is taken away."""
    depth, kept = 0, []
    for char in text:
        depth += (char == "\u2068") - (char == "\u2069")
        assert depth in (0, 1), "an isolate ends before it began, or is never closed"
        kept.append(char if not depth and char != "\u2069" else "")
    assert depth == 0
    return "".join(kept)


@pytest.mark.parametrize("screen", ["ar", "fa"])
def test_every_check_has_a_sentence(screen):
    assert set(CHECKS.names()) <= set(sentences(screen))


@pytest.mark.parametrize("sample", BAD, ids=lambda one: f"{one.check} {one.name}")
def test_a_real_finding_reads_in_the_language_with_its_quotes_isolated(sample):
    details = {found.detail: found for found in sample.findings() if found.check == sample.check}
    assert details
    for found, screen in product(details.values(), ("ar", "fa")):
        said = finding_sentence(found, screen)
        own = outside_isolates(said.removeprefix(found.check))
        assert re.search(r"[\u0600-\u06ff]", own)
        assert not re.search(r"[A-Za-z{}]", own), "what is not in the language is isolated"
        for quote in re.findall(r"(?s)«.*»", found.detail):
            assert isolated(quote) in said


def test_figures_stand_in_their_places():
    told = Finding(
        check="CH05",
        severity="flag",
        subject="x",
        detail="the gold has 25 characters, the longest wrong option 9",
        where="options[1]",
    )
    said = finding_sentence(told, "ar").replace("\u2068", "").replace("\u2069", "")
    assert said == "CH05 · الخيار ب: طول الجواب الصحيح يدل عليه (هو 25 حرفًا، وأقرب الخيارات الخاطئة إليه 9)."


def test_a_quote_cannot_end_its_isolate():
    hostile = Finding(
        check="TX22", severity="flag", subject="x", detail="torn: «a\u2069\u202ebc»", where="question"
    )
    said = finding_sentence(hostile, "ar")
    outside_isolates(said)
    assert "U+202E" in said
    assert "\u202e" not in said


def test_auditors_name_the_defect_as_annotators_read_it():
    (line,) = auditor_sentences(audit("x", failed=("answer_alignment",)), "ar")
    assert line == "المدقق \u2068first\u2069 في «الجواب خاطئ»: \u2068الجواب لا يناسب السؤال.\u2069"
    (line,) = auditor_sentences(audit("x", failed=("answer_alignment",)), "en")
    assert line.startswith("auditor \u2068first\u2069 on “Answer is wrong”: ")
