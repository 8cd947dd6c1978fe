"""A blind test split: questions public, golds apart.

What gives a gold away is sealed with it: seed and records an item was made from, metadata (the metre is the
answer of a metre question), licence and attribution (credits name poets and years), the plain content hash
(with three options, three guesses would find it), which couplets are of one poem (they share their metre),
and the words of checks and auditors. Text that is public elsewhere stays public: a famous verse's second half
is no secret.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from mihakk.machinery.errors import ExternalFailure, UsageError
from mihakk.machinery.ids import content_hash
from mihakk.releases.content.item_tables import RELEASED, Placed, data_files, row_item, write_parquet
from mihakk.releases.content.secret import blind_key, is_item_id, keyed, public_form, public_id
from mihakk.schemas.audit import SHORT_RULES, Audit, Verdict
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.finding import Finding
from mihakk.schemas.record import Record
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.review import Resolution, ReviewedContent, Vote

SPLIT = "test"
WITHHELD = "withheld: the item is blind"
_HIDDEN: dict[str, Any] = {
    "gold": [],
    "option_kinds": [],
    "answer": "",
    "accepted": [],
    "explanations": [],
    "overall": "",
}
_OWN = ("group", "subset", "licence", "attribution")
"""Told of a sealed item with its answer alone, as they are."""
_JSON = ("fields", "metadata", "origin")
ANSWERS = pa.schema(
    [
        *(RELEASED.field(name) for name in ("id", "version", "content_hash", *_HIDDEN, *_OWN)),
        *((name, pa.string()) for name in _JSON),
    ]
)
"""One sealed item's answer; `fields`, `metadata` and `origin` are JSON. Its `content_hash` is that of the
item as it is asked, with its gold; its `group` names the poem or idiom."""


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


@dataclass(frozen=True)
class Papers:
    """What a build says of its items, released or not; gone through several times, so no iterators."""

    verdicts: Iterable[Verdict]
    audits: Iterable[Audit]
    findings: Iterable[Finding]
    resolutions: tuple[Resolution, ...]
    removed: tuple[Rejection, ...]


def public_items(
    placed: Mapping[str, Mapping[str, Sequence[Placed]]], key: bytes
) -> dict[str, dict[str, list[Placed]]]:
    """Every item as a blind release asks it, sorted by public id."""
    return {
        config: {
            split: sorted(
                (replace(one, item=public_form(key, one.item)) for one in each), key=lambda one: one.item.id
            )
            for split, each in splits.items()
        }
        for config, splits in placed.items()
    }


def public_papers(papers: Papers, key: bytes, sealed: frozenset[str], opened: frozenset[str]) -> Papers:
    """The papers under public ids, and without what tells.

    A finding on an item that is sealed, or waits and may be sealed in a later version, is left out whole
    (that the gold is told by its length tells the gold), and so is what auditors and people said of it:
    whoever runs the same auditors could ask them about each option, and see which gives these scores.

    Args:
        sealed: Public ids of the sealed items; every one of them passed, as far as is told.
        opened: Public ids of the released items with open golds; only of these anything is said in words.
    """
    return Papers(
        verdicts=tuple(_verdict(one, public_id(key, one.item), sealed, opened) for one in papers.verdicts),
        audits=tuple(
            _audit(one, name) for one in papers.audits if (name := public_id(key, one.item)) in opened
        ),
        findings=tuple(_findings(papers.findings, key, opened)),
        resolutions=tuple(
            one.model_copy(update={"item": name})
            for one in papers.resolutions
            if (name := public_id(key, one.item)) in opened
        ),
        removed=tuple(
            one.model_copy(
                update={
                    "record": public_id(key, one.record),
                    "kept": public_id(key, one.kept) if one.kept else "",
                    "detail": WITHHELD,
                    "body": "",
                }
            )
            for one in papers.removed
        ),
    )


def public_votes(
    reviewed: Iterable[ReviewedContent], votes: Iterable[Vote], key: bytes, opened: frozenset[str]
) -> dict[str, tuple[Record, ...]]:
    """Of what people judged, what may be told: that of released items with open golds.

    A content hash could be tried with each option for the gold, and a vote on it says whether that was right.
    """

    def public(rows: Iterable[ReviewedContent] | Iterable[Vote]) -> tuple[Record, ...]:
        named = ((public_id(key, one.item), one) for one in rows)
        kept = [
            one.model_copy(update={"item": name, "content_hash": keyed(key, "content", one.content_hash)})
            for name, one in named
            if name in opened
        ]
        return tuple(sorted(kept, key=lambda one: (one.item, one.content_hash)))

    return {"reviewed": public(reviewed), "votes": public(votes)}


def _verdict(verdict: Verdict, name: str, sealed: frozenset[str], opened: frozenset[str]) -> Verdict:
    if name in opened:
        return verdict.model_copy(update={"item": name})
    # Whoever runs the same auditors could ask them about each option: which rule fired would tell the gold.
    rules = {rule: fired for rule, fired in verdict.rules.items() if rule in SHORT_RULES}
    status = "pass" if name in sealed else verdict.status
    return verdict.model_copy(update={"item": name, "status": status, "reasons": (), "rules": rules})


def _audit(audit: Audit, name: str) -> Audit:
    # An answer given without seeing the gold is the gold where it does not differ.
    return audit.model_copy(update={"item": name, "blind_answer": "", "blind_differs": False})


def _findings(findings: Iterable[Finding], key: bytes, opened: frozenset[str]) -> Iterator[Finding]:
    for finding in findings:
        name = public_id(key, finding.subject)
        if name in opened:
            yield finding.model_copy(update={"subject": name})
        elif not is_item_id(finding.subject):
            yield finding.model_copy(update={"subject": name, "detail": WITHHELD, "where": ""})


def seal(tables: Mapping[str, Mapping[str, Any]], config: BenchmarkConfig, key: bytes) -> Sealed:
    """Part the golds of the test split from its questions; `UsageError` for `age` without a recipient."""
    if config.release.blind == "age" and not config.release.answers_recipient.startswith("age1"):
        raise UsageError("release.blind is age: give the public key (age1...) in release.answers_recipient")
    public: dict[str, dict[str, Any]] = {}
    answers: list[dict[str, Any]] = []
    for name, splits in tables.items():
        public[name] = {}
        for split, table in splits.items():
            rows = table.to_pylist()
            if split == SPLIT:
                answers += [_answer(row) for row in rows]
                shown = [_question(row, config, key) for row in rows]
            else:
                shown = [_opened(row, key) for row in rows]
            public[name][split] = pa.Table.from_pylist(shown, schema=table.schema)
    answers.sort(key=lambda row: str(row["id"]))
    return Sealed(public, pa.Table.from_pylist(answers, schema=ANSWERS))


def _opened(row: Mapping[str, Any], key: bytes) -> dict[str, Any]:
    return {
        **row,
        "group": keyed(key, "group", row["group"]),
        "origin": row["origin"] | {"seed": None},
    }


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _answer(row: Mapping[str, Any]) -> dict[str, Any]:
    own = {name: row.get(name) for name in ("id", "version", "content_hash", *_HIDDEN, *_OWN)}
    return own | {name: _json(row.get(name)) for name in _JSON}


def _question(row: Mapping[str, Any], config: BenchmarkConfig, key: bytes) -> dict[str, Any]:
    shown = f"{row['question']}\n{row['context']}"
    fields = {
        name: value if value and value in shown else None for name, value in (row.get("fields") or {}).items()
    }
    hidden = {name: empty for name, empty in _HIDDEN.items() if name in row}
    return {
        **row,
        **hidden,
        "content_hash": keyed(key, "content", row["content_hash"]),
        "group": keyed(key, "group", row.get("pair_id") or row["id"]),
        "subset": "",
        "licence": config.release.licence,
        "attribution": "",
        "fields": fields,
        "metadata": dict.fromkeys(row["metadata"]),
        "origin": row["origin"] | {"records": [], "seed": None},
        "sealed": True,
    }


def encrypt(data: bytes, recipient: str) -> bytes:
    """Encrypt to an age public key; every call gives other bytes."""
    pyrage = _pyrage()
    try:
        encrypted: bytes = pyrage.encrypt(data, [pyrage.x25519.Recipient.from_str(recipient)])
    except pyrage.RecipientError as error:
        raise UsageError(f"release.answers_recipient is not an age public key: {error}") from error
    return encrypted


def decrypt(data: bytes, identity: str) -> bytes:
    """Decrypt with an age secret key (`AGE-SECRET-KEY-1...`)."""
    pyrage = _pyrage()
    try:
        plain: bytes = pyrage.decrypt(data, [pyrage.x25519.Identity.from_str(identity)])
    except (pyrage.IdentityError, pyrage.DecryptError) as error:
        raise UsageError(
            "the answers can't be opened with this key: give that of release.answers_recipient"
        ) from error
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


def find_answers(folder: Path) -> Path:
    """The golds' table below a release folder, plain or encrypted; `UsageError` where there is none."""
    for name in (f"answers/{SPLIT}-00000-of-00001.parquet", f"answers/{SPLIT}.parquet.age"):
        if (folder / name).is_file():
            return folder / name
    raise UsageError(f"{folder} holds no answers: name the folder or release with the golds of the split")


def opened_rows(
    release: Path, answers: Mapping[str, Mapping[str, Any]]
) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(config, split, row) of a blind release with the golds, each checked against its content hash.

    Raises:
        UsageError: The answers lack an item.
        ExternalFailure: A gold does not fit its question.
    """
    for config, split, path in data_files(release):
        for row in pq.read_table(path).to_pylist():
            yield config, split, _opened_row(row, answers, release) if row["sealed"] else row


def require_own_secret(release: Path, answers: Mapping[str, Mapping[str, Any]], key: bytes) -> None:
    """Raise `UsageError` where a blind release was sealed under another secret than this."""
    for _, _, path in data_files(release):
        for row in pq.read_table(path, columns=["id", "sealed", "content_hash"]).to_pylist():
            if row["sealed"] and row["id"] in answers:
                if row["content_hash"] == keyed(key, "content", answers[row["id"]]["content_hash"]):
                    return
                raise UsageError(
                    f"this is not the secret that {release.name} was sealed under: set its own "
                    "(MIHAKK_BLIND_KEY or MIHAKK_BLIND_KEY_FILE, to the byte)"
                )


def _opened_row(
    row: Mapping[str, Any], answers: Mapping[str, Mapping[str, Any]], release: Path
) -> dict[str, Any]:
    if row["id"] not in answers:
        raise UsageError(f"the answers are not of this release: they lack {row['id']}")
    answer = dict(answers[row["id"]])
    parts = {name: orjson.loads(answer.pop(name)) for name in _JSON}
    kept = {name: answer[name] for name in (*_HIDDEN, *_OWN) if name in answer}
    opened = {**row, **kept, **parts, "content_hash": answer["content_hash"], "sealed": False}
    if content_hash(row_item(opened)) != answer["content_hash"]:
        raise ExternalFailure(f"the answer of {row['id']} does not fit the question in {release}")
    return opened


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
    seal_mark = keyed(blind_key(), "answers", hashlib.sha256(data).hexdigest())
    mark = f"{seal_mark} {config.release.answers_recipient}\n"
    before = (previous or folder) / "answers"
    if (before / "seal.txt").is_file() and (before / "seal.txt").read_text() == mark:
        encrypted = (before / "test.parquet.age").read_bytes()
    else:
        encrypted = encrypt(data, config.release.answers_recipient)
    (place / "test.parquet.age").write_bytes(encrypted)
    (place / "seal.txt").write_text(mark, encoding="utf-8")
    return place / "test.parquet.age"


def _answers_release(table: Any, config: BenchmarkConfig, version: str, folder: Path) -> Path:
    from mihakk.releases.content.checksum import write_manifest

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
