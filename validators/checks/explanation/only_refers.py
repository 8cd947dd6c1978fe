"""EX01: an explanation explains."""

from mihakk.machinery.text.references import content
from mihakk.machinery.text.references import only_refers as refers
from mihakk.schemas.idiom import Idiom
from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.explained import Explained, explained
from mihakk.validators.checks.texts import excerpt


@check("EX01", severity="flag", on=Explained, title="no explanation that only points elsewhere")
def only_refers(subject: Explained) -> Objections:
    """No explanation made of nothing but a reference to another entry (`see: ...`, `etc.`, `under S`)."""
    of_idiom = isinstance(subject, Idiom)
    for where, _, explanation in explained(subject):
        if refers(explanation, subject.language):
            yield Objection(f"only points to another entry: {excerpt(explanation)}", where)
        elif explanation.strip() and not content(explanation, subject.language, of_idiom=of_idiom):
            yield Objection(f"states no meaning: {excerpt(explanation)}", where)
