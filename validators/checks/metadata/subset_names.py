"""MD07: a subset has one name."""

from collections import defaultdict

from mihakk.validators.checks.check import Objection, Objections, check
from mihakk.validators.checks.setindex import SetIndex


@check("MD07", severity="report", on=SetIndex, title="no two subsets differ by spelling alone")
def subset_names(index: SetIndex) -> Objections:
    """No two names of subsets are the same but for case, spaces, hyphens and underscores."""
    spelt: dict[str, list[str]] = defaultdict(list)
    for name in sorted(index.subsets):
        spelt["".join(char for char in name.casefold() if char.isalnum())].append(name)
    for names in spelt.values():
        if len(names) > 1:
            yield Objection(f"one subset by several names: {', '.join(map(repr, names))}")
