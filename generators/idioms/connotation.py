"""Whether an idiom is said in praise, in blame or neither (Kinayat, section 3)."""

from __future__ import annotations

from typing import Literal, get_args

from generators.corpus import form_text
from generators.parts.stems import idiom_stem
from generators.task import Context, Made, Options, Skip, Stem, task
from mihakk.text import word_keys
from schemas.idiom import Connotation, Idiom
from schemas.record import Language

NAMES: dict[Language, dict[Connotation, str]] = {
    "ar": {"positive": "إيجابية", "negative": "سلبية", "neutral": "محايدة"},
    "fa": {"positive": "مثبت", "negative": "منفی", "neutral": "خنثی"},
    "en": {"positive": "positive", "negative": "negative", "neutral": "neutral"},
}


class ConnotationOptions(Options):
    """What is judged."""

    of: tuple[Literal["phrase", "explanation"], ...] = ("phrase", "explanation")


@task(title="Connotation of an idiom", reads="idiom", options=ConnotationOptions)
def connotation(ctx: Context[ConnotationOptions], idiom: Idiom) -> Made:
    """One question about the idiom itself and one about its explanation, both with the label people gave the
    idiom; idioms without a label wait for people."""
    if idiom.connotation is None:
        yield Skip(idiom.id, "no_connotation")
        return
    for subject in ctx.options.of:
        text = form_text(idiom.phrase if subject == "phrase" else idiom.explanation)
        if not word_keys(text, idiom.language):
            yield Skip(idiom.id, f"no_{subject}")
            continue
        yield from ctx.choice(
            _stem(idiom, subject, text),
            NAMES[idiom.language][idiom.connotation],
            [NAMES[idiom.language][label] for label in get_args(Connotation) if label != idiom.connotation],
            kinds=["other_label"] * (len(NAMES[idiom.language]) - 1),
            strategy="labels",
        )


def _stem(idiom: Idiom, subject: str, text: str) -> Stem:
    stem = idiom_stem(idiom)
    fields = {"text": text}
    return Stem(
        records=stem.records,
        language=stem.language,
        fields=fields,
        licence=stem.licence,
        attribution=stem.attribution,
        metadata=stem.metadata | {"subject": subject},
        dialect=stem.dialect,
        variant=f"{subject}-",
    )
