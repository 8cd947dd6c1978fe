"""Files of answers signed by a team's key: what a rival can't do in its name, checked with OpenSSL's own tools."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import tracemalloc
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pydantic import ValidationError

from mihakk.evaluation.blind.board import Board
from mihakk.evaluation.blind.keys import Register, is_genuine, make_key, private_key, public_key, sign
from mihakk.evaluation.blind.submission import read_submission, sign_submission, write_submission
from mihakk.machinery.errors import MihakkWarning, UsageError
from mihakk.machinery.ids import sha256
from mihakk.schemas.blind import Signature, SubmissionCard
from tests.evaluation.test_blind_board import MONDAY, answers, digests, many, ruled


@pytest.fixture
def board(tmp_path: Path) -> Board:
    """A board with a key for either team, and keys of two that are no team of it."""
    made = Board(ruled(), many(), tmp_path / "private", digests)
    for team in ("alpha", "beta", "rival"):
        made.register.register(team, make_key(tmp_path / f"{team}.key"), MONDAY)
    make_key(tmp_path / "stranger.key")
    return made


def written(folder: Path, right: float = 0.6, seed: int = 1, **card: Any) -> Path:
    """A file of alpha's, not signed yet."""
    given = {
        **{"board": "spring", "team": "alpha", "model": "m", "revision": "r1", "release": "demo"},
        **{"version": "0.1.0", "open": True, "kind": "arabic"},
    }
    return write_submission(
        SubmissionCard.model_validate(given | card), answers(many(), right, seed), folder / "out"
    )


def signed(folder: Path, by: str = "alpha", right: float = 0.6, seed: int = 1, **card: Any) -> Path:
    path = written(folder, right, seed, **card)
    sign_submission(path, private_key(folder / f"{by}.key"), MONDAY)
    return path


def refused(board: Board, path: Path, said: str, at: datetime = MONDAY) -> None:
    with pytest.raises(UsageError, match=said):
        board.receive(read_submission(path), now=at)


def test_nobody_speaks_in_a_teams_name_or_takes_of_its_quota(board: Board, tmp_path: Path) -> None:
    refused(board, written(tmp_path, revision="r0"), "alpha's file is not signed: `mihakk evaluate team sign")
    for number, (by, said) in enumerate(
        (
            ("rival", "of rival: only alpha speaks in its name"),
            ("beta", "of beta: only alpha speaks in its name"),
            ("stranger", "which is not registered"),
        )
    ):
        refused(board, signed(tmp_path, by, revision=f"x{number}"), said)
    assert board.log.entries == []  # and no line of the public log in its name
    for number in range(3):
        path = signed(tmp_path, right=0.5, seed=number, revision=str(number))
        assert board.receive(read_submission(path), now=MONDAY).told == "shown"


def test_card_and_answers_of_two_files_can_not_be_joined(board: Board, tmp_path: Path) -> None:
    one, two = signed(tmp_path), signed(tmp_path, right=0.9, seed=5, revision="r2")
    first, second = (path.read_bytes().splitlines(keepends=True) for path in (one, two))
    changed = {
        "answers": [first[0], *second[1:-1], first[-1]],
        "card": [second[0], *first[1:-1], first[-1]],
        "line": [*first[:-2], first[-2].replace(b'"reply"', b'"reply" '), first[-1]],
        "order": [first[0], first[2], first[1], *first[3:]],
        "dropped": [*first[:5], *first[6:]],
    }
    for name, lines in changed.items():
        path = tmp_path / f"{name}.jsonl"
        path.write_bytes(b"".join(lines))
        refused(board, path, "not what was signed")
    assert board.receive(read_submission(one), now=MONDAY).told == "shown"


def test_a_file_counts_once_however_its_last_line_is_written(board: Board, tmp_path: Path) -> None:
    path = signed(tmp_path)
    reply = board.receive(read_submission(path), now=MONDAY)
    lines = path.read_bytes().splitlines(keepends=True)
    seal = json.loads(lines[-1])
    value = seal["signature"]["value"]
    # The last letter before == has four bits that no byte of a signature uses.
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    other = f"{value[:85]}{alphabet[alphabet.index(value[85]) ^ 1]}=="
    assert base64.b64decode(other) == base64.b64decode(value)
    for again in (
        lines[-1],
        b'{"signature":   ' + json.dumps(seal["signature"]).encode() + b"}\n\n",
    ):
        path.write_bytes(b"".join(lines[:-1]) + again)
        refused(
            board,
            path,
            f"received on 2026-03-02 09:00 UTC and told {reply.figure}: a signed file counts once",
        )
    assert len(board.log.entries) == 1
    # Nor does another spelling of it, nor the group's order added to the second half, which some libraries take.
    raw = base64.b64decode(value)
    order = 2**252 + 27742317777372353535851937790883648493
    more = raw[:32] + (int.from_bytes(raw[32:], "little") + order).to_bytes(32, "little")
    for forged in (other, base64.b64encode(more).decode()):
        line = json.dumps({"signature": seal["signature"] | {"value": forged}}).encode()
        path.write_bytes(b"".join(lines[:-1]) + line)
        refused(board, path, "not what was signed")


def test_a_refused_file_is_no_file_that_somebody_may_send_later(board: Board, tmp_path: Path) -> None:
    for number in range(3):
        path = signed(tmp_path, right=0.5, seed=number, revision=str(number))
        board.receive(read_submission(path), now=MONDAY)
    late = signed(tmp_path, right=0.9, seed=9, revision="late")
    refused(board, late, "sign the file again and send it from 2026-03-09")
    week = MONDAY + timedelta(days=8)
    refused(board, late, "and refused: a signed file counts once", week)
    sign_submission(late, private_key(tmp_path / "alpha.key"), week)
    assert board.receive(read_submission(late), now=week).told == "shown"


def test_a_file_for_one_season_counts_in_no_other(board: Board, tmp_path: Path) -> None:
    board.receive(read_submission(signed(tmp_path)), now=MONDAY)
    board.close(now=datetime(2026, 6, 1, tzinfo=UTC))
    rules = ruled(name="autumn", opens="2026-07-01", closes="2026-10-01", gain=0.4)
    second = Board(rules, many(), tmp_path / "private", digests)
    refused(
        second,
        signed(tmp_path),
        "the answers are for spring, and this is autumn",
        datetime(2026, 7, 2, tzinfo=UTC),
    )


def test_expired_and_revoked_keys_are_refused_with_the_reason(board: Board, tmp_path: Path) -> None:
    new = make_key(tmp_path / "new.key")
    board.register.register("alpha", new, MONDAY, date(2026, 3, 10))
    path = signed(tmp_path, "new")
    refused(board, path, "of alpha expired after 2026-03-10: register another", MONDAY + timedelta(days=9))
    assert board.receive(read_submission(path), now=MONDAY + timedelta(days=8)).told == "shown"
    board.register.revoke(public_key(tmp_path / "alpha.key.pub"), MONDAY, "laptop stolen")
    # Also what it signed before: who has the key can write any date.
    refused(
        board,
        signed(tmp_path, revision="r3"),
        r"was revoked on 2026-03-02 \(laptop stolen\): register another",
    )
    with pytest.raises(UsageError, match="was registered and revoked for alpha: make a new one"):
        board.register.register("rival", public_key(tmp_path / "alpha.key.pub"), MONDAY)
    with pytest.raises(UsageError, match="was registered for alpha: make a new one"):
        board.register.register("rival", new, MONDAY)


def test_the_store_is_closed_to_others_by_whatever_reads_its_keys(board: Board) -> None:
    board.store.chmod(0o755)
    with pytest.warns(MihakkWarning, match="now only you can"):
        board.register.keys()
    assert board.store.stat().st_mode & 0o777 == 0o700


WEAK = (
    "0100000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0000000000000000000000000000000000000000000000000000000000000080",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "0100000000000000000000000000000000000000000000000000000000000080",
)
"""Points of small order, and other spellings of them."""


@pytest.mark.parametrize("point", WEAK)
def test_a_key_in_whose_name_anybody_can_sign_is_no_key(tmp_path: Path, point: str) -> None:
    raw = bytes.fromhex(point)
    path = tmp_path / "weak.pub"
    body = base64.b64encode(bytes.fromhex("302a300506032b6570032100") + raw).decode()
    path.write_text(f"-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n")
    with pytest.raises(UsageError, match="anybody or nobody can sign in the name of this key"):
        public_key(path)
    # R = [s]B holds for the neutral point whatever was signed.
    own = Ed25519PrivateKey.from_private_bytes(b"any".ljust(32, b"\0"))
    seed = hashlib.sha512(b"any".ljust(32, b"\0")).digest()[:32]
    scalar = (int.from_bytes(seed, "little") & ~7 & (2**254 - 1)) | 2**254
    order = 2**252 + 27742317777372353535851937790883648493
    value = own.public_key().public_bytes_raw() + (scalar % order).to_bytes(32, "little")
    forged = Signature(
        key=base64.b64encode(raw).decode(),
        signed="2026-03-02T09:00:00Z",
        value=base64.b64encode(value).decode(),
    )
    assert not is_genuine(forged, "0" * 64)


@pytest.mark.parametrize("second", [2, 7, 8, 11])
def test_a_number_that_is_no_point_of_the_curve_is_no_key(tmp_path: Path, second: int) -> None:
    path = tmp_path / "none.pub"
    raw = bytes.fromhex("302a300506032b6570032100") + second.to_bytes(32, "little")
    path.write_text(
        f"-----BEGIN PUBLIC KEY-----\n{base64.b64encode(raw).decode()}\n-----END PUBLIC KEY-----\n"
    )
    with pytest.raises(UsageError, match="anybody or nobody can sign in the name of this key: refuse it"):
        public_key(path)


def test_a_pipe_in_place_of_a_key_or_file_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for reader in (public_key, read_submission):
        with pytest.raises(UsageError, match="pipe can't be read: it is no regular file"):
            reader(tmp_path / "pipe")


def test_a_link_is_not_followed_to_what_its_sender_can_not_read(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text('{"card": {"board": "a secret"}}\n')
    (tmp_path / "link").symlink_to(secret)
    with pytest.raises(
        UsageError, match=r"link can't be read: it is no regular file \(a link is none\)"
    ) as said:
        read_submission(tmp_path / "link")
    assert "a secret" not in str(said.value)


def test_a_file_signed_in_the_future_is_refused(board: Board, tmp_path: Path) -> None:
    path = signed(tmp_path)
    refused(board, path, "which is yet to come: set the clock", MONDAY - timedelta(days=2))


@pytest.mark.parametrize(
    ("field", "text", "said"),
    [
        ("revision", "r\x1b[2J", r"`revision` holds the invisible character '\\x1b'"),
        ("revision", "r\u3164", r"`revision` holds '\\u3164': write a commit"),
        ("revision", "１", r"`revision` holds '\\uff11': write a commit"),
        ("notes", "a\u202eb", r"`notes` holds the invisible character '\\u202e'"),
        ("contact", "a\nb", r"`contact` holds the invisible character '\\n'"),
    ],
)
def test_what_terminals_obey_stands_in_no_card(tmp_path: Path, field: str, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        read_submission(written(tmp_path, **{field: text}))
    with pytest.raises(ValidationError):
        written(tmp_path, parameters=float("inf"))
    assert read_submission(written(tmp_path, notes="می\u200cرود\nدو")).card.notes
    path = written(tmp_path)
    lines = path.read_bytes().replace(b"i0000", b"\\u001b[2J").replace(b"i0001", b"\\u001b[2J")
    path.write_bytes(lines)
    with pytest.raises(UsageError, match=r"'\\x1b\[2J' is answered twice"):
        read_submission(path)


def test_a_file_that_is_far_too_large_or_none_is_not_read(tmp_path: Path) -> None:
    long, wide = tmp_path / "long.jsonl", tmp_path / "wide.jsonl"
    long.write_bytes(b"{}\n" * 1000)
    with wide.open("wb") as file:
        file.truncate(2**40)  # of holes
    for path in (long, wide):
        with pytest.raises(UsageError, match="is too large: one line an item"):
            read_submission(path, 240)
    with pytest.raises(UsageError, match="/dev/zero can't be read: it is no regular file"):
        read_submission(Path("/dev/zero"), 240)


@pytest.mark.parametrize(
    ("by", "said"), [("", "alpha's file is not signed"), ("alpha", "line 2: unknown key 'z'")]
)
def test_lines_of_other_keys_take_no_memory_and_none_is_read_without_a_key(
    board: Board, tmp_path: Path, by: str, said: str
) -> None:
    path = written(tmp_path)
    card, *_ = path.read_bytes().splitlines()
    line = b'{"item":"x","reply":"y","z":[' + b",".join([b'{"":{}}'] * 4000) + b"]}"
    body = b"\n".join([card, *[line] * 330, b""])
    path.write_bytes(body)
    if by:
        signature = sign(private_key(tmp_path / f"{by}.key"), sha256(body), MONDAY)
        path.write_bytes(body + json.dumps({"signature": signature.model_dump()}).encode())
    tracemalloc.start()
    with pytest.raises(UsageError, match=said):
        read_submission(path, 240, lambda sent: board.check_key(sent, MONDAY))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5 * len(body)


def test_openssl_checks_our_signatures_and_its_keys_sign(tmp_path: Path) -> None:
    def openssl(*arguments: str | Path, given: bytes = b"") -> bytes:
        done = subprocess.run(["openssl", *arguments], input=given, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout

    key = tmp_path / "openssl.key"
    openssl("genpkey", "-algorithm", "ed25519", "-out", key)
    (tmp_path / "openssl.pub").write_bytes(openssl("pkey", "-in", key, "-pubout"))
    path = written(tmp_path)
    body = path.read_bytes()
    signature = sign_submission(path, private_key(key))
    assert signature.key == public_key(tmp_path / "openssl.pub")
    assert path.read_bytes().startswith(body)
    text, value = tmp_path / "text", tmp_path / "value"
    text.write_bytes(f"mihakk submission\n{sha256(body)}\n{signature.signed}\n".encode())
    value.write_bytes(base64.b64decode(signature.value))
    checked = openssl(
        *("pkeyutl", "-verify", "-pubin", "-inkey", tmp_path / "openssl.pub", "-rawin", "-in", text),
        *("-sigfile", value),
    )
    assert b"Signature Verified Successfully" in checked
    make_key(tmp_path / "own.key")
    assert (tmp_path / "own.key").stat().st_mode & 0o777 == 0o600
    assert openssl("pkey", "-in", tmp_path / "own.key", "-pubout") == (tmp_path / "own.key.pub").read_bytes()


# Public keys in PEM, of a curve and of an algorithm (1.2.3.4) that nobody has.
UNKNOWN = ("MBowEwYHKoZIzj0CAQYIKoZIzj0DAWMDAwAEAA==", "MAwwBQYDKgMEAwMABAA=")


@pytest.mark.parametrize("body", UNKNOWN)
def test_a_key_of_an_unknown_kind_is_refused_with_its_name(body: str, tmp_path: Path) -> None:
    path = tmp_path / "odd.pub"
    path.write_text(f"-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n", encoding="utf-8")
    with pytest.raises(UsageError, match=r"odd\.pub is no public key in PEM"):
        public_key(path)


def test_what_is_no_key_is_refused_with_its_name(tmp_path: Path) -> None:
    make_key(tmp_path / "a.key")
    with pytest.raises(UsageError, match=r"a\.key.*: File exists: name another file"):
        make_key(tmp_path / "a.key")
    (tmp_path / "text").write_bytes(b"\xff no key")
    subprocess.run(["openssl", "genpkey", "-algorithm", "x25519", "-out", tmp_path / "other"], check=True)
    for path, said in (
        ("nowhere", "can't be read"),
        ("text", "is no private key"),
        ("other", "not an Ed25519 key"),
    ):
        with pytest.raises(UsageError, match=said):
            private_key(tmp_path / path)
    with pytest.raises(UsageError, match=r"send the file that ends in \.pub"):
        public_key(tmp_path / "a.key")
    make_key(tmp_path / "b.key")
    (tmp_path / "both.pub").write_bytes(b"".join((tmp_path / f"{one}.key.pub").read_bytes() for one in "ab"))
    with pytest.raises(UsageError, match="more than one key"):
        public_key(tmp_path / "both.pub")
    register = Register(tmp_path / "teams.jsonl")
    with pytest.raises(UsageError, match="until 2020-01-01 is over"):
        register.register("alpha", public_key(tmp_path / "a.key.pub"), MONDAY, date(2020, 1, 1))
    with pytest.raises(UsageError, match="a team's name has letters, digits"):
        register.register("../alpha", public_key(tmp_path / "a.key.pub"), MONDAY)
    with pytest.raises(UsageError, match=r"is not in .*teams\.jsonl"):
        register.revoke("AAAA", MONDAY, "")
