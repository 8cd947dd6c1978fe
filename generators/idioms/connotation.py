"""Whether an idiom is said in praise, in blame or neither (Kinayat, section 3)."""

import operator
from dataclasses import replace
from typing import Literal, get_args

from mihakk.generators.corpus_rows import Phrase
from mihakk.generators.parts.stems import idiom_stem
from mihakk.generators.parts.together import companions
from mihakk.generators.task import Context, Made, Options, Skip, Stem, task
from mihakk.machinery.languages import pack
from mihakk.machinery.text import word_keys
from mihakk.schemas.idiom import Connotation, Idiom


class ConnotationOptions(Options):
    """What is judged."""

    of: tuple[Literal["phrase", "explanation"], ...] = ("phrase", "explanation")


@task(title="Connotation of an idiom", reads="idiom", options=ConnotationOptions)
def connotation(ctx: Context[ConnotationOptions], idiom: Idiom) -> Made:
    """One question about the idiom itself and one about its explanation, both with the label of the idiom
    unless people labelled the explanation apart; only what all of them say is a label, and idioms without
    one wait for people."""
    names = pack(idiom.language).made_with.connotations
    beside: tuple[Phrase, ...] = ()
    if ctx.corpus.sealed:
        phrases = [one for one in ctx.corpus.phrases if one.language == idiom.language]
        beside = companions(ctx, idiom.id, phrases, count=len(names), label=_label, apart=operator.ne)
    for subject in ctx.options.of:
        gold = _gold(idiom, subject)
        if gold is None or (ctx.corpus.sealed and gold != idiom.connotation):
            yield Skip("no_connotation")
            continue
        text = (idiom.phrase if subject == "phrase" else idiom.explanation).shown
        if not word_keys(text, idiom.language):
            yield Skip(f"no_{subject}")
            continue
        yield from ctx.choice(
            _stem(idiom, subject, text),
            names[gold],
            [names[label] for label in get_args(Connotation) if label != gold],
            # Each label is right once among these: what is known of one tells of the others.
            more_records=[one.id for one in beside],
            kinds=["other_label"] * (len(names) - 1),
            strategy="labels",
        )


def _gold(idiom: Idiom, subject: str) -> Connotation | None:
    """The label of the idiom or of its explanation; None where there is none, or people differ."""
    if subject == "explanation" and "explanation_connotation" in idiom.source_labels:
        label = idiom.source_labels["explanation_connotation"]
        return next((one for one in get_args(Connotation) if one == label), None)
    return idiom.connotation


def _label(phrase: Phrase) -> str | None:
    return phrase.connotation or None


def _stem(idiom: Idiom, subject: str, text: str) -> Stem:
    stem = idiom_stem(idiom)
    votes = "connotation_votes" if subject == "phrase" else "explanation_connotation_votes"
    stem.metadata.update(subject=subject, votes=idiom.source_labels.get(votes, ""))
    return replace(stem, fields={"text": text}, variant=f"{subject}-")
