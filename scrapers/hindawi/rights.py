"""The licence that a Hindawi book states on its copyright page."""

from __future__ import annotations

import re

_MARKS = re.compile(r"[\u064B-\u065F\u0670\u0640\u200e\u200f]")


def licence(text: str) -> str:
    """SPDX identifier, `public-domain` or `unknown` for a book, by the text of its copyright page.

    The design's rights stand beside the text's own, and the text's decide. Not every title is free: reserved
    rights and silence both give `unknown`, which a release refuses.
    """
    bare = _MARKS.sub("", text)
    sentences = [
        sentence for sentence in re.split(r"[.\n]", bare) if "حقوق" in sentence or "رخصة" in sentence
    ]
    about_text = [sentence for sentence in sentences if re.search(r"نص العمل|بنص|النص", sentence)]
    about_design = [sentence for sentence in sentences if "تصميم" in sentence and sentence not in about_text]
    return _stated(" ".join(about_text or [s for s in sentences if s not in about_design]))


def _stated(text: str) -> str:
    if re.search(r"(?:لل|ال)ملكية العامة", text):
        return "public-domain"
    if "المشاع الإبداعي" not in text or "محفوظة" in text:
        return "unknown"
    parts = ["CC", "BY"]
    if re.search(r"غير (?:ال)?تجاري", text):
        parts.append("NC")
    if re.search(r"(?:منع|عدم|بدون|لا) (?:ال)?اشتقاق", text):
        parts.append("ND")
    elif re.search(r"الترخيص بالمثل|المشاركة بالمثل", text):
        parts.append("SA")
    return "-".join(parts) + "-4.0"
