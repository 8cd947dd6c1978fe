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
from mihakk.releases.content.secret import blind_key, keyed, public_form, public_id
from mihakk.schemas.audit import Audit, Verdict
from mihakk.schemas.benchmark import BenchmarkConfig
from mihakk.schemas.finding import Finding
from mihakk.schemas.item import ChoiceItem, Origin
from mihakk.schemas.record import Record
from mihakk.schemas.rejection import Rejection
from mihakk.schemas.review import Resolution, ReviewedContent, Vote

SPLIT = "test"
WITHHELD = "withheld: the item is blind"
ASKED = (
    *("id", "task", "language", "dialect", "question", "context", "split"),
    *("options", "pair_id", "order", "verses"),
)
"""What all may see of a sealed item, as it is; of its `fields` those whose text stands in its question."""
_HIDDEN = ("gold", "option_kinds", "answer", "accepted", "explanations", "overall")
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


def told_items(
    placed: Mapping[str, Mapping[str, Sequence[Placed]]], config: BenchmarkConfig, key: bytes
) -> dict[str, dict[str, list[Placed]]]:
    """The items as all may see them: those of the test split hold what is asked, and no gold or other fact.

    All that is published is made of these, so that nothing of it can tell what they lack.

    Args:
        placed: As `public_items` gives them.
    """
    return {
        name: {
            split: [(_question(one, config, key) if split == SPLIT else _opened(one, key)) for one in each]
            for split, each in splits.items()
        }
        for name, splits in placed.items()
    }


def _opened(placed: Placed, key: bytes) -> Placed:
    origin = placed.item.origin.model_copy(update={"seed": None})
    item = placed.item.model_copy(update={"origin": origin})
    return replace(placed, item=item, group=keyed(key, "group", placed.group))


def _question(placed: Placed, config: BenchmarkConfig, key: bytes) -> Placed:
    item = placed.item
    shown = f"{item.question}\n{item.context}"
    told = {name: getattr(item, name) for name in ASKED if hasattr(item, name)}
    told |= {name: type(getattr(item, name))() for name in _HIDDEN if hasattr(item, name)}
    question = type(item).model_construct(
        **told,
        fields={name: value for name, value in item.fields.items() if value and value in shown},
        licence=config.release.licence,
        origin=Origin(
            records=(),
            generator=item.origin.generator,
            generator_version=item.origin.generator_version,
            seed=None,
            asked=item.origin.asked,
        ),
    )
    both = (isinstance(item, ChoiceItem) and item.pair_id) or item.id
    return Placed(
        item=question,
        split=placed.split,
        group=keyed(key, "group", both),
        verdict="pass",
        audit_state=None,
        seal=keyed(key, "content", content_hash(item)),
    )


def public_papers(papers: Papers, key: bytes, opened: frozenset[str]) -> Papers:
    """The papers on released items with open golds, under public ids, and why others were left out.

    Of an item that is sealed, or waits and may be sealed in a later version, nothing is told: that the gold
    is told by its length tells the gold, and whoever runs the same auditors could ask them about each option,
    and see which gives these scores, or makes this rule fire. Nor is a finding on a whole side or a record:
    how many there are tells of the sealed side too.

    Args:
        opened: Public ids of the released items with open golds.
    """

    def named(rows: Iterable[Any]) -> Iterator[Any]:
        for one in rows:
            if (name := public_id(key, one.item)) in opened:
                yield one.model_copy(update={"item": name})

    return Papers(
        verdicts=tuple(named(papers.verdicts)),
        # An answer given without seeing the gold is the gold where it does not differ.
        audits=tuple(
            one.model_copy(update={"blind_answer": "", "blind_differs": False})
            for one in named(papers.audits)
        ),
        findings=tuple(_findings(papers.findings, key, opened)),
        resolutions=tuple(named(papers.resolutions)),
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

    # How many items nothing flags counts the sealed ones too.
    bare = (one.model_copy(update={"stratum_items": 0, "unflagged_items": 0}) for one in reviewed)
    return {"reviewed": public(bare), "votes": public(votes)}


def _findings(findings: Iterable[Finding], key: bytes, opened: frozenset[str]) -> Iterator[Finding]:
    for finding in findings:
        if (name := public_id(key, finding.subject)) in opened:
            yield finding.model_copy(update={"subject": name})


def seal(tables: Mapping[str, Mapping[str, Any]], config: BenchmarkConfig) -> Any:
    """Golds of the test split, a table with no version yet; `UsageError` for `age` without a recipient.

    Args:
        tables: Config -> split -> table with the golds.
    """
    if config.release.blind == "age" and not config.release.answers_recipient.startswith("age1"):
        raise UsageError("release.blind is age: give the public key (age1...) in release.answers_recipient")
    rows = (row for splits in tables.values() if SPLIT in splits for row in splits[SPLIT].to_pylist())
    answers = sorted(map(_answer, rows), key=lambda row: str(row["id"]))
    return pa.Table.from_pylist(answers, schema=ANSWERS)


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _answer(row: Mapping[str, Any]) -> dict[str, Any]:
    own = {name: row.get(name) for name in ("id", "version", "content_hash", *_HIDDEN, *_OWN)}
    return own | {name: _json(row.get(name)) for name in _JSON}


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
    answers: Any, config: BenchmarkConfig, version: str, folder: Path, previous: Path | None
) -> Path:
    """Write the golds: encrypted into the release, or as a release of their own beside it.

    Encrypted bytes differ each time, so those of the version before are taken over while the golds and the
    version are the same; a keyed digest beside them tells.
    """
    column = ANSWERS.get_field_index("version")
    table = answers.set_column(column, ANSWERS.field(column), pa.repeat(version, answers.num_rows))
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
