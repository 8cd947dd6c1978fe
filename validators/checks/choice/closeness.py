"""CH06: wrong options are neither the answer in other words nor off the subject."""

from mihakk.schemas.item import ChoiceItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.setindex import SetIndex
from mihakk.validators.checks.texts import Texts, excerpt

SHARED = 0.5
"""Share of common words (Jaccard) above which nearness comes from the words, not from the meaning."""


@check("CH06", severity="flag", on=ChoiceItem, title="wrong options are near the gold, not too near")
def closeness(item: ChoiceItem, texts: Texts, index: SetIndex) -> Objections:
    """The cosine of each wrong option to the gold lies inside the band the index was prepared with.

    Only for options of three words or more, and only where the index was gathered with an embedder. Options
    that share most of their words with the gold ask for the word or the order in which they differ
    (`on the day` and `on the night`): vectors hardly see that, and so have no say.
    """
    if item.id not in index.strangers or len(item.gold) != 1:
        return
    right = set(texts.words(item.options[item.gold[0]]))
    for place, cosine in index.strangers[item.id]:
        option = item.options[place]
        said = set(texts.words(option))
        if cosine > index.band[1] and len(said & right) > SHARED * len(said | right):
            continue
        side = "too near" if cosine > index.band[1] else "too far from"
        yield Objection(f"{side} the gold (cosine {cosine:.3f}): {excerpt(option)}", f"options[{place}]")
