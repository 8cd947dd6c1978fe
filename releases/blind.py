"""A blind test split: questions public, golds apart.

What gives a gold away is sealed with it: the seed and the records an item was made from (options are shuffled
by the seed), its metadata (the metre is the answer of a metre question), and the plain content hash (with
three options, three guesses would find it). Text that is public elsewhere stays public: a famous verse's
second half is no secret.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from mihakk.errors import ExternalFailure, UsageError
from mihakk.ids import content_hash
from mihakk.settings import settings
from releases.tables import AnyItem, data_files, row_item, write_parquet
from schemas.audit import Audit
from schemas.benchmark import BenchmarkConfig
from schemas.finding import Finding

SPLIT = "test"
SEED_BITS = 64
_HIDDEN: dict[str, Any] = {"gold": [], "answer": "", "accepted": [], "explanations": [], "overall": ""}
_TEXT = pa.string()
ANSWERS = pa.schema(
    [
        *((name, _TEXT) for name in ("id", "version", "content_hash")),
        ("gold", pa.list_(pa.int32())),
        ("answer", _TEXT),
        ("accepted", pa.list_(_TEXT)),
        ("explanations", pa.list_(_TEXT)),
        ("overall", _TEXT),
        *((name, _TEXT) for name in ("fields", "metadata", "origin", "group")),
    ]
)
"""One sealed item's answer; `fields`, `metadata` and `origin` are JSON."""


@dataclass(frozen=True)
class Sealed:
    """The two halves of a blind release."""

    tables: Mapping[str, Mapping[str, Any]]
    """Config -> split -> table that may be published."""
    answers: Any
    """Table of the golds, with no version yet."""

    @property
    def ids(self) -> frozenset[str]:
        """Ids of the sealed items."""
        return frozenset(self.answers.column("id").to_pylist())


def blind_key() -> bytes:
    """The secret that keys public digests."""
    secret = settings().blind_key
    if secret is None or len(secret.get_secret_value()) < 16:
        raise UsageError(
            "a blind release needs MIHAKK_BLIND_KEY: a secret of at least 16 characters, kept for good"
        )
    return secret.get_secret_value().encode()


def keyed(key: bytes, text: str) -> str:
    """Digest that nobody without the key can check a guess against."""
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def seal(tables: Mapping[str, Mapping[str, Any]], config: BenchmarkConfig) -> Sealed:
    """Part the golds of the test split from its questions.

    Raises:
        UsageError: No key, no recipient for `age`, or a seed that could be guessed.
    """
    if config.seed.bit_length() < SEED_BITS:
        raise UsageError(
            "a blind release needs a seed nobody can guess, for options are shuffled by it: set `seed` to a "
            f"secret number of at least {SEED_BITS} bits, in a config that is not public"
        )
    if config.release.blind == "age" and not config.release.answers_recipient.startswith("age1"):
        raise UsageError("release.blind is age: give the public key (age1...) in release.answers_recipient")
    key = blind_key()
    public: dict[str, dict[str, Any]] = {}
    answers: list[dict[str, Any]] = []
    for name, splits in tables.items():
        public[name] = {}
        for split, table in splits.items():
            if split != SPLIT:
                public[name][split] = _without_seed(table)
                continue
            rows = table.to_pylist()
            answers += [_answer(row) for row in rows]
            hidden = [_question(row, key) for row in rows]
            public[name][split] = pa.Table.from_pylist(hidden, schema=table.schema)
    answers.sort(key=lambda row: str(row["id"]))
    return Sealed(public, pa.Table.from_pylist(answers, schema=ANSWERS))


def _without_seed(table: Any) -> Any:
    """The seed of one split is the seed of all."""
    rows = table.to_pylist()
    for row in rows:
        row["origin"]["seed"] = None
    return pa.Table.from_pylist(rows, schema=table.schema)


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _answer(row: Mapping[str, Any]) -> dict[str, Any]:
    own = {name: row.get(name) for name in ("id", "version", "content_hash", "group", *_HIDDEN)}
    return own | {name: _json(row.get(name)) for name in ("fields", "metadata", "origin")}


def _question(row: Mapping[str, Any], key: bytes) -> dict[str, Any]:
    shown = f"{row['question']}\n{row['context']}"
    fields = {
        name: value if value and value in shown else None for name, value in (row.get("fields") or {}).items()
    }
    hidden = {name: empty for name, empty in _HIDDEN.items() if name in row}
    return {
        **row,
        **hidden,
        "content_hash": keyed(key, row["content_hash"]),
        "group": keyed(key, row["group"]),
        "fields": fields,
        "metadata": dict.fromkeys(row["metadata"]),
        "origin": row["origin"] | {"records": [], "seed": None},
        "sealed": True,
    }


def without_hints(
    audits: tuple[Audit, ...], findings: tuple[Finding, ...], sealed: frozenset[str]
) -> tuple[tuple[Audit, ...], tuple[Finding, ...]]:
    """Audits and findings whose words on sealed items are gone: `the right one is ...` would tell."""
    said = "withheld: the item is blind"
    quiet_audits = tuple(
        audit.model_copy(
            update={
                "issues": tuple(issue.model_copy(update={"explanation": said}) for issue in audit.issues),
                "problem": said if audit.problem else "",
            }
        )
        if audit.item in sealed
        else audit
        for audit in audits
    )
    quiet_findings = tuple(
        finding.model_copy(update={"detail": said}) if finding.subject in sealed else finding
        for finding in findings
    )
    return quiet_audits, quiet_findings


def encrypt(data: bytes, recipient: str) -> bytes:
    """Encrypt to an age public key; every call gives other bytes."""
    pyrage = _pyrage()
    try:
        encrypted: bytes = pyrage.encrypt(data, [pyrage.x25519.Recipient.from_str(recipient)])
    except pyrage.RecipientError as error:
        raise UsageError(f"release.answers_recipient is no age public key: {error}") from error
    return encrypted


def decrypt(data: bytes, identity: str) -> bytes:
    """Decrypt with an age secret key (`AGE-SECRET-KEY-1...`)."""
    pyrage = _pyrage()
    try:
        plain: bytes = pyrage.decrypt(data, [pyrage.x25519.Identity.from_str(identity)])
    except (pyrage.IdentityError, pyrage.DecryptError) as error:
        raise UsageError("the answers can't be opened with this key") from error
    return plain


def _pyrage() -> Any:
    try:
        import pyrage
    except ModuleNotFoundError as missing:
        raise UsageError("release.blind is age: install the extra `publish` (package pyrage)") from missing
    return pyrage


def read_answers(path: Path, identity: str = "") -> dict[str, dict[str, Any]]:
    """Id -> answer, from the plain or the encrypted table."""
    data = path.read_bytes()
    if path.suffix == ".age":
        data = decrypt(data, identity)
    return {row["id"]: row for row in pq.read_table(pa.BufferReader(data)).to_pylist()}


def opened_items(release: Path, answers: Mapping[str, Mapping[str, Any]]) -> Iterator[AnyItem]:
    """The items of a blind release with their golds, each checked against its content hash."""
    for _, _, path in data_files(release):
        for row in pq.read_table(path).to_pylist():
            if not row["sealed"]:
                yield row_item(row)
                continue
            if row["id"] not in answers:
                raise UsageError(f"the answers are not of this release: they lack {row['id']}")
            answer = dict(answers[row["id"]])
            parts = {name: orjson.loads(answer.pop(name)) for name in ("fields", "metadata", "origin")}
            item = row_item({**row, **{name: answer[name] for name in _HIDDEN}, **parts})
            if content_hash(item) != answer["content_hash"]:
                raise ExternalFailure(f"the answer of {row['id']} does not fit the question in {release}")
            yield item


def write_answers(
    sealed: Sealed, config: BenchmarkConfig, version: str, folder: Path, previous: Path | None
) -> Path:
    """Write the golds: encrypted into the release, or as a release of their own beside it.

    Encrypted bytes differ each time, so those of the version before are taken over while the golds and the
    version are the same; a keyed digest beside them tells.
    """
    column = ANSWERS.get_field_index("version")
    table = sealed.answers.set_column(
        column, ANSWERS.field(column), pa.repeat(version, sealed.answers.num_rows)
    )
    if config.release.blind == "repository":
        return _answers_release(table, config, version, folder)
    place = folder / "answers"
    plain = place / "test.parquet"
    write_parquet(table, plain)
    data = plain.read_bytes()
    plain.unlink()
    mark = f"{keyed(blind_key(), hashlib.sha256(data).hexdigest())} {config.release.answers_recipient}\n"
    before = None if previous is None else previous / "answers"
    same = (
        before is not None and (before / "seal.txt").is_file() and (before / "seal.txt").read_text() == mark
    )
    encrypted = (
        (before / "test.parquet.age").read_bytes()
        if before is not None and same
        else encrypt(data, config.release.answers_recipient)
    )
    (place / "test.parquet.age").write_bytes(encrypted)
    (place / "seal.txt").write_text(mark, encoding="utf-8")
    return place / "test.parquet.age"


def _answers_release(table: Any, config: BenchmarkConfig, version: str, folder: Path) -> Path:
    from releases.checksum import write_manifest

    place = answers_folder(folder)
    write_parquet(table, place / "answers" / f"{SPLIT}-00000-of-00001.parquet")
    (place / "README.md").write_text(
        "---\nconfigs:\n- config_name: answers\n  data_files:\n"
        f"  - split: {SPLIT}\n    path: answers/{SPLIT}-*.parquet\n---\n"
        f"# Answers of {config.name} {version}\n\n"
        "Private. Never commit these elsewhere, print them or show them to a model.\n",
        encoding="utf-8",
    )
    write_manifest(place)
    return place


def answers_folder(folder: Path) -> Path:
    """Where the golds of a release folder lie when they get a repository of their own."""
    return folder.with_name(f"{folder.name}.answers")
