"""TX16: one digit system at a time."""

import re

from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.texts import Texts

SYSTEMS = {
    "Western": frozenset("0123456789"),
    "Arabic": frozenset("٠١٢٣٤٥٦٧٨٩"),
    "Persian": frozenset("۰۱۲۳۴۵۶۷۸۹"),
}
_EASTERN = SYSTEMS["Arabic"] | SYSTEMS["Persian"]
_FORMULA = re.compile(r"[A-Za-z]\w{0,40}\d|\d\s?[A-Za-z]|[=^*/]")


@check("TX16", severity="report", title="one digit system", when=_EASTERN)
def digits(texts: Texts) -> Objections:
    """One digit system throughout; Western digits of formulas and units may stand beside another."""
    used = [name for name, system in SYSTEMS.items() if not system.isdisjoint(texts.joined)]
    if len(used) > 1 and not (used[0] == "Western" and len(used) == 2 and _FORMULA.search(texts.joined)):
        yield Objection(f"digits of several systems: {', '.join(used)}")
