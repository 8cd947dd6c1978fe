"""QU02: a question is whole."""

from mihakk.schemas.item import QuestionItem
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.setindex import SetIndex
from mihakk.validators.checks.texts import Texts
from mihakk.validators.checks.wording import ending, kinds

SHOWN = 40
"""Characters of the end that a message shows."""
SAYING = {
    "leading": "ends in a word that leads on",
    "unusual": "ends in a word that no other question ends in",
    "cut": "ends inside a word",
}


@check(
    "QU02",
    severity="report",
    on=QuestionItem,
    needs=("options.open", "options.ask"),
    title="no question breaks off",
)
def truncated(item: QuestionItem, texts: Texts, index: SetIndex) -> Objections:
    """No outside question ends inside a word, in a particle, behind a comma or an open bracket.

    What the set's other questions do is no fault: a sign that two in a hundred show is left alone, so that
    stems which the options complete are not named. Where nearly all end with a mark, one without it is.
    It is only counted: of what was named in published sets one in seven breaks off, as people read it.
    """
    wording = index.wording.get((item.task, item.language))
    if wording is None:
        return
    words = texts.words(item.question)
    end = ending(item.question, words, getattr(item, "options", ()))
    said = ""
    if end.unclosed and "bracket" in wording.signs:
        said = "opens what it does not close"
    elif end.leads_on and "comma" in wording.signs:
        said = "ends in a comma"
    elif not end.closed and words:
        said = next((SAYING[sign] for sign, ends in wording.ends.items() if end.last in ends), "")
        usual, asked = end.last in wording.usual_ends, "?" in item.question or "؟" in item.question
        if not (said or asked) and (wording.closed == "nearly all" or (wording.closed and not usual)):
            said = f"ends without a mark, where {wording.closed} have one"
        asks = not wording.kinds.isdisjoint(kinds(words, item.language))
        if not (said or asked or usual) and asks:
            said = "asks without the mark that such questions end with"
    if said:
        yield Objection(f"{said}: «…{item.question.strip()[-SHOWN:]}»", "question")
