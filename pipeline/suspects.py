"""Items of a review that many systems' answers speak against, stored for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from mihakk.annotation.decisions.store import add, stored
from mihakk.annotation.decisions.stores import Stores
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import content_hash
from mihakk.schemas.item import Item
from mihakk.schemas.suspect import Suspect


def keep_suspects(
    name: str, stores: Stores, items: Iterable[Item], found: Sequence[Suspect]
) -> list[Suspect]:
    """Keeps suspects beside a review's decisions, and returns those that are new; the next push shows them.

    Args:
        name: Of the benchmark or audited set.
        stores: Of its review.
        items: Its items as they stand.
        found: Suspects among what systems were asked.

    Raises:
        UsageError: None of them is one of the items.
    """
    known = _contents(items)
    own = [one for one in found if any(known.get(item) == content for item, content in one.contents)]
    if found and not own:
        raise UsageError(
            f"none of the {len(found)} suspects is an item of {name} as it stands: name the benchmark, or "
            "the folder of the audit, whose items systems were asked, built or audited as it was then"
        )
    return add(stores.suspects, Suspect, own)


def evidence(stores: Stores, items: Iterable[Item]) -> dict[str, str]:
    """Item to what systems' answers say against it, for items that are still what systems were asked."""
    suspects = stored(stores.suspects, Suspect)
    known = _contents(items) if suspects else {}
    return {
        item: one.evidence for one in suspects for item, content in one.contents if known.get(item) == content
    }


def _contents(items: Iterable[Item]) -> dict[str, str]:
    return {item.id: content_hash(item) for item in items}
