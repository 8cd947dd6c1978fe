"""Keys of teams: Ed25519 signatures over files of answers, and the register of who holds which key.

Of RFC 8032, by the package `cryptography`. A key's name is the key itself: its 32 public bytes in base64.
What is signed is short (`signed_text`), so that a line of a board's log can be checked without the file.
"""

from __future__ import annotations

import base64
import os
import warnings
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from errno import EINVAL, ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, ENXIO
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, cast

from filelock import FileLock
from pydantic import ValidationError

from mihakk.machinery.errors import ExternalFailure, MihakkWarning, UsageError
from mihakk.machinery.whole import append_whole
from mihakk.schemas.blind import Signature, TeamKey

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

REGISTER = "teams.jsonl"
"""Name of the register in the private folder of all boards."""
_NO_FILE = frozenset({ELOOP, ENAMETOOLONG, ENOENT, ENOTDIR, ENXIO})
_PRIME = 2**255 - 19
_EIGHTH = int("05fc536d880238b13933c6d305acdfd5f098eff289f4c345b027b2c28f95e826", 16)
_WEAK = {0, 1, _PRIME - 1, _EIGHTH, _PRIME - _EIGHTH}
"""Second coordinates of all points whose order divides 8: whoever names one as a key needs none to sign."""
_CURVE = -121665 * pow(121666, -1, _PRIME)


def private_store(store: Path) -> None:
    """Makes the private folder of all boards, or closes one that others can look into.

    Raises:
        UsageError: It belongs to another user.
    """
    store.mkdir(mode=0o700, parents=True, exist_ok=True)
    if store.stat().st_mode & 0o077:
        try:
            store.chmod(0o700)
        except PermissionError as error:
            raise UsageError(
                f"others can look into {store}, which is not yours: have its owner run `chmod 700 {store}`"
            ) from error
        warnings.warn(f"others could look into {store}: now only you can", MihakkWarning, stacklevel=2)


def make_key(path: Path) -> str:
    """Writes a new private key (PKCS 8, PEM, readable by its owner alone) and `PATH.pub`; the public key.

    Raises:
        UsageError: One of the files exists, or can't be written.
    """
    part, serial = _ed25519()
    key = part.Ed25519PrivateKey.generate()
    public = path.with_name(f"{path.name}.pub")
    private = key.private_bytes(serial.Encoding.PEM, serial.PrivateFormat.PKCS8, serial.NoEncryption())
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if public.exists():
            raise FileExistsError(17, "File exists", str(public))
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(private)
        form = serial.PublicFormat.SubjectPublicKeyInfo
        public.write_bytes(key.public_key().public_bytes(serial.Encoding.PEM, form))
    except OSError as error:
        raise UsageError(f"{error.filename}: {error.strerror}: name another file") from error
    return _name(key.public_key())


def public_key(path: Path) -> str:
    """The public key in a PEM file as `make_key` and `openssl pkey -pubout` write it.

    Raises:
        UsageError: It can't be read, or holds no Ed25519 public key, or more than one.
    """
    part, serial = _ed25519()
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        with open(path, "rb", opener=regular) as file:
            text = file.read()
        if text.count(b"-----BEGIN") > 1:
            raise UsageError(f"{path} holds more than one key: register each from a file of its own")
        key = serial.load_pem_public_key(text)
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}") from error
    except (ValueError, UnsupportedAlgorithm) as error:
        raise UsageError(f"{path} is no public key in PEM: send the file that ends in .pub") from error
    if not isinstance(key, part.Ed25519PublicKey):
        raise UsageError(f"{path} is not an Ed25519 key: make one by `mihakk evaluate team key`")
    if not _is_sound(key.public_bytes_raw()):
        raise UsageError(
            f"{path}: anybody or nobody can sign in the name of this key: refuse it, and ask for another"
        )
    return _name(key)


def regular(path: str, flags: int) -> int:
    """Opens a file and nothing else that others may send in its place, for `open(..., opener=regular)`.

    A pipe is waited for, a device never ends, a link may lead to what they can't read themselves, and what
    was a file when it was looked at may be one of these when it is opened.

    Raises:
        OSError: It is no plain file, or can't be read; its text says so.
    """
    said = "it is no regular file (a link is none), or not there"
    try:
        found = os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        raise OSError(error.errno, said if error.errno in _NO_FILE else error.strerror) from error
    if not S_ISREG(os.fstat(found).st_mode):
        os.close(found)
        raise OSError(EINVAL, said)
    return found


def private_key(path: Path) -> Ed25519PrivateKey:
    """The private key in a PEM file without a passphrase.

    Raises:
        UsageError: It can't be read, or holds no Ed25519 private key.
    """
    part, serial = _ed25519()
    from cryptography.exceptions import UnsupportedAlgorithm

    try:
        key = serial.load_pem_private_key(path.read_bytes(), None)
    except OSError as error:
        raise UsageError(f"{path} can't be read: {error.strerror}") from error
    except (ValueError, TypeError, UnsupportedAlgorithm) as error:
        raise UsageError(f"{path} is no private key in PEM without a passphrase") from error
    if not isinstance(key, part.Ed25519PrivateKey):
        raise UsageError(f"{path} is not an Ed25519 key: make one by `mihakk evaluate team key`")
    return cast("Ed25519PrivateKey", key)


def signed_text(digest: str, signed: str) -> bytes:
    """What a signature is of.

    Args:
        digest: SHA-256 of the file up to its last line, hexadecimal.
        signed: `Signature.signed`.
    """
    return f"mihakk submission\n{digest}\n{signed}\n".encode()


def sign(key: Ed25519PrivateKey, digest: str, now: datetime) -> Signature:
    """The signature of a file whose lines have this digest."""
    signed = now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    value = base64.b64encode(key.sign(signed_text(digest, signed))).decode()
    return Signature(key=_name(key.public_key()), signed=signed, value=value)


def is_genuine(signature: Signature, digest: str) -> bool:
    """Whether the holder of the named key signed exactly this."""
    part, _ = _ed25519()
    from cryptography.exceptions import InvalidSignature

    try:
        raw = base64.b64decode(signature.key, validate=True)
        key = part.Ed25519PublicKey.from_public_bytes(raw)
        value = base64.b64decode(signature.value, validate=True)
        key.verify(value, signed_text(digest, signature.signed))
    except (InvalidSignature, ValueError):
        return False
    return _is_sound(raw)


class Register:
    """Which keys sign for which team; lines that are only ever added.

    Args:
        path: Its file, made with the first key.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def keys(self) -> Mapping[str, TeamKey]:
        """Every key as it stands now.

        Raises:
            ExternalFailure: A line can't be read.
        """
        found: dict[str, TeamKey] = {}
        if not self.path.is_file():
            return found
        private_store(self.path.parent)
        lines = self.path.read_bytes().splitlines()
        for number, line in enumerate(lines, 1):
            try:
                one = TeamKey.model_validate_json(line)
            except ValidationError as error:
                raise ExternalFailure(
                    f"{self.path}, line {number}: not a key of a team: put back the file from a copy"
                ) from error
            found[one.key] = one
        return found

    def register(self, team: str, key: str, now: datetime, until: date | None = None) -> TeamKey:
        """From now on this key signs for the team, beside any other it has.

        Raises:
            UsageError: It was registered before, or is over already.
        """
        if until is not None and until < now.date():
            raise UsageError(f"until {until} is over: name a later day")
        with self._held():
            if one := self.keys().get(key):
                revoked = " and revoked" if one.revoked else ""
                raise UsageError(f"this key was registered{revoked} for {one.team}: make a new one")
            return self._add({"team": team, "key": key, "registered": now, "until": until})

    def revoke(self, key: str, now: datetime, why: str) -> TeamKey:
        """From now on nothing is taken that this key signs, whenever it did.

        Raises:
            UsageError: It is not registered.
        """
        with self._held():
            known = self.keys()
            if key not in known:
                raise UsageError(f"{key} is not in {self.path}: `mihakk evaluate team list` names all keys")
            return self._add(known[key].model_dump() | {"revoked": now, "why": why})

    def check(
        self,
        signature: Signature | None,
        digest: str,
        team: str,
        at: datetime,
        arrived: datetime | None = None,
    ) -> None:
        """Refuses what is not signed by a key that holds for this team.

        Args:
            signature: As it stands in the file.
            digest: Of what was signed.
            team: Who is said to have signed.
            at: The time.
            arrived: When the file came in, where it waited since: a key that expired since holds for it.

        Raises:
            UsageError: With the reason and what to do.
        """
        if signature is None:
            raise UsageError(f"{team}'s file is not signed: `mihakk evaluate team sign FILE --key KEY`")
        one = self.keys().get(signature.key)
        named = f"the key {signature.key}"
        if one is None:
            raise UsageError(
                f"{team}'s file is signed by {named}, which is not registered: ask its maintainers"
            )
        if one.team != team:
            raise UsageError(
                f"{team}'s file is signed by {named} of {one.team}: only {team} speaks in its name"
            )
        if one.revoked:
            reason = f" ({one.why})" if one.why else ""
            raise UsageError(
                f"{named} of {team} was revoked on {one.revoked:%Y-%m-%d}{reason}: register another"
            )
        if one.until is not None and (arrived or at).date() > one.until:
            raise UsageError(f"{named} of {team} expired after {one.until}: register another")
        try:
            early = datetime.fromisoformat(signature.signed) > at + timedelta(days=1)
        except ValueError:
            early = True
        if early:
            raise UsageError(
                f"{team}'s file was signed at {signature.signed}, which is yet to come: set the clock, and "
                "sign it again"
            )
        # Not all who recount a log read other spellings of a value.
        raw = signature.value.encode()
        if not is_genuine(signature, digest) or base64.b64encode(base64.b64decode(raw)) != raw:
            raise UsageError(
                f"{team}'s file is not what was signed: its card or answers were changed afterwards. Sign it "
                "again: `mihakk evaluate team sign FILE --key KEY`"
            )

    def _held(self) -> FileLock:
        private_store(self.path.parent)
        return FileLock(f"{self.path}.lock", timeout=60)

    def _add(self, facts: dict[str, Any]) -> TeamKey:
        try:
            one = TeamKey.model_validate(facts)
        except ValidationError as error:
            raise UsageError(
                f"{facts['team']!r}: a team's name has letters, digits, `.`, `_` and `-`"
            ) from error
        append_whole(self.path, one.model_dump_json().encode() + b"\n")
        return one


def _is_sound(raw: bytes) -> bool:
    """Whether 32 bytes are a point of the curve in its one spelling, of an order too large to guess."""
    second = int.from_bytes(raw, "little") % 2**255
    # -x^2 + y^2 = 1 + d x^2 y^2 (RFC 8032, section 5.1): x exists where this product is a square.
    square = (second**2 - 1) * (_CURVE * second**2 + 1)
    return second < _PRIME and second not in _WEAK and pow(square, (_PRIME - 1) // 2, _PRIME) == 1


def _name(key: Any) -> str:
    return base64.b64encode(key.public_bytes_raw()).decode()


def _ed25519() -> tuple[Any, Any]:
    """The modules of `cryptography`: keys, and their files."""
    try:
        from cryptography.hazmat.primitives import serialization
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError as missing:
        raise UsageError(
            "install the extra `publish` (package cryptography) to check signatures"
        ) from missing
    return ed25519, serialization
