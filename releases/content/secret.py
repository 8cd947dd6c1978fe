"""The secret of a blind release, and all that is keyed by it: public ids, groups, hashes, orders of options.

Inside the pipeline ids stay what they are, digests of public record ids and of a build seed that is no
secret: whoever knows a divan can compute them. Nothing of that kind is published with sealed golds.
"""

from __future__ import annotations

import hashlib
import hmac
import re

from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import content_hash
from mihakk.machinery.settings import settings
from mihakk.schemas.item import ChoiceItem, Item

LEAST_BYTES = 8
"""Of a secret in a file of random bytes: 64 bits."""
LEAST_CHARACTERS = 16
"""Of a secret given as text, which may be hexadecimal: 64 bits."""
_LEAST_DIFFERENT = 5
_ITEM_ID = re.compile(r"(?P<about>.+)-[0-9a-f]{16}")


def blind_key() -> bytes:
    """The secret: the bytes of the file `MIHAKK_BLIND_KEY_FILE`, or the text of `MIHAKK_BLIND_KEY`.

    Raises:
        UsageError: Neither is set, both are, the file can't be read, or the secret could be guessed.
    """
    text, path = settings().blind_key, settings().blind_key_file
    if (text is None) == (path is None):
        number = "both" if text else "neither"
        raise UsageError(
            f"a blind release needs one secret, kept for all its versions, and {number} "
            f"of these is set: MIHAKK_BLIND_KEY (text of at least {LEAST_CHARACTERS} characters) or "
            f"MIHAKK_BLIND_KEY_FILE (a file of at least {LEAST_BYTES} random bytes, e.g. "
            "`head -c 32 /dev/urandom > FILE`)"
        )
    if path is not None:
        try:
            secret = path.read_bytes()
        except OSError as error:
            raise UsageError(f"MIHAKK_BLIND_KEY_FILE can't be read: {error}") from error
        least = LEAST_BYTES
    else:
        assert text is not None
        secret, least = text.get_secret_value(), LEAST_CHARACTERS
    if len(secret) < least or len(set(secret)) < _LEAST_DIFFERENT:
        named = "MIHAKK_BLIND_KEY_FILE" if path else "MIHAKK_BLIND_KEY"
        raise UsageError(
            f"the secret in {named} could be guessed: it has {len(secret)} bytes, {len(set(secret))} of them "
            f"different; give at least {least} random ones"
        )
    return secret


def keyed(key: bytes, purpose: str, text: str) -> str:
    """Digest that nobody without the key can check a guess against, hexadecimal; one per purpose and text."""
    return hmac.new(key, f"{purpose}\x1f{text}".encode(), hashlib.sha256).hexdigest()


def is_item_id(name: str) -> bool:
    """Whether this is an item's id, not a record's."""
    return _ITEM_ID.fullmatch(name) is not None


def public_id(key: bytes, name: str) -> str:
    """What a blind release calls an item, or a record named among its errata."""
    found = _ITEM_ID.fullmatch(name)
    return f"{found['about'] if found else 'record'}-{keyed(key, 'id', name)[:16]}"


def as_released(key: bytes | None, item: Item) -> tuple[str, set[str]]:
    """Id of an item in a release, and its possible content hashes there: of a blind one, sealed or open.

    Args:
        key: The secret; None where the release is not blind.
    """
    if key is None:
        return item.id, {content_hash(item)}
    shown = public_form(key, item)
    plain = content_hash(shown)
    return shown.id, {plain, keyed(key, "content", plain)}


def public_form(key: bytes, item: Item) -> Item:
    """The item as a blind release asks it: public id, options in an order that only the key tells."""
    name = public_id(key, item.id)
    if not isinstance(item, ChoiceItem):
        return item.model_copy(update={"id": name})
    both = item.pair_id or item.id
    drawn = sorted(
        range(len(item.options)), key=lambda place: (keyed(key, f"order {both}", item.options[place]), place)
    )
    turn = item.order % max(1, len(drawn))
    places = drawn[turn:] + drawn[:turn]
    return item.model_copy(
        update={
            "id": name,
            "pair_id": public_id(key, item.pair_id) if item.pair_id else "",
            "options": tuple(item.options[place] for place in places),
            "option_kinds": tuple(item.option_kinds[place] for place in places) if item.option_kinds else (),
            "gold": tuple(sorted(places.index(place) for place in item.gold)),
        }
    )
