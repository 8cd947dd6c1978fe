"""Whatever a file of a release hides a text in, the one reader of what is printed finds it."""

from __future__ import annotations

import csv
import gzip
import html
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from openpyxl import Workbook

from mihakk.releases.content.fingerprints import fingerprints, letters_of
from mihakk.releases.printed import printed

WORDS = [
    "کشتی",
    "شکستگانیم",
    "ای",
    "باد",
    "شرطه",
    "برخیز",
    "باشد",
    "که",
    "باز",
    "بینیم",
    "دیدار",
    "آشنا",
    "را",
]
LINE = " ".join(WORDS[:6])
assert len(letters_of(LINE)) >= 20
OTHER = "ما ضد الطول؟"


def is_found(folder: Path, text: str = LINE) -> bool:
    shown = set[str]().union(*(one.marks for one in printed(folder)))
    return not fingerprints([text]).isdisjoint(shown)


def release(folder: Path, name: str, data: bytes) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "README.md").write_text("A card.\n")
    (folder / name).write_bytes(data)
    return folder


def hidden_in(line: str) -> st.SearchStrategy[Any]:
    """JSON of any shape that holds a line once: a text, a part of one, a key, or JSON in a text."""
    words = st.text("abc ابت", max_size=8)
    here = st.tuples(words, words).map(lambda around: f"{around[0]} {line} {around[1]}")
    as_key = st.just({line: 1})
    broken = st.just("\n".join(line.split()))
    noise = st.one_of(words, st.integers(), st.booleans(), st.none())
    return st.recursive(
        st.one_of(here, as_key, broken),
        lambda inner: st.one_of(
            st.tuples(st.lists(noise, max_size=2), inner).map(lambda both: [*both[0], both[1]]),
            st.tuples(words, inner, noise).map(lambda three: {"n": three[2], three[0]: three[1]}),
            inner.map(lambda one: json.dumps(one, ensure_ascii=False)),
            inner.map(json.dumps),
            inner.map(lambda one: html.escape(json.dumps(one, ensure_ascii=False))),
            inner.map(lambda one: {json.dumps(one, ensure_ascii=False): None}),
        ),
        max_leaves=4,
    )


def as_csv(value: Any) -> bytes:
    out = io.StringIO()
    csv.writer(out).writerows([["id", "q"], ["1", value if isinstance(value, str) else json.dumps(value)]])
    return out.getvalue().encode()


def as_parquet(value: Any) -> bytes:
    out = io.BytesIO()
    pq.write_table(pa.table({"q": [value if isinstance(value, str) else json.dumps(value)]}), out)
    return out.getvalue()


def as_workbook(value: Any) -> bytes:
    book, out = Workbook(), io.BytesIO()
    cell = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    book.active.append(["q", f"x{cell}"])
    book.save(out)
    return out.getvalue()


FILES: dict[str, Callable[[Any], bytes]] = {
    "rows.jsonl": lambda value: json.dumps({"q": value}, ensure_ascii=False).encode() + b"\n{}\n",
    "ascii.jsonl": lambda value: json.dumps({"q": value}).encode(),
    "rows.json": lambda value: json.dumps([{"q": value}], indent=2, ensure_ascii=False).encode(),
    "rows.csv": as_csv,
    "rows.parquet": as_parquet,
    "rows.xlsx": as_workbook,
    "rows.jsonl.gz": lambda value: gzip.compress(json.dumps(value).encode()) + gzip.compress(b"{}"),
    "NOTICE": lambda value: f"See {value!r}.".encode(),
}


@given(value=hidden_in(LINE), name=st.sampled_from(sorted(FILES)))
def test_a_line_anywhere_in_a_row_of_any_kind_of_file_is_found(
    value: Any, name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("release")
    assert is_found(release(folder, name, FILES[name](value)))


TYPES: dict[str, tuple[Any, Any]] = {
    "text": (pa.string(), LINE),
    "bytes": (pa.binary(), LINE.encode()),
    "bytes of one byte a letter": (pa.binary(), LINE.translate(str.maketrans("یک", "يك")).encode("cp1256")),
    "dictionary": (pa.dictionary(pa.int32(), pa.string()), LINE),
    "list of lists": (pa.list_(pa.list_(pa.string())), [[OTHER], [OTHER, LINE]]),
    "struct": (pa.struct([("a", pa.struct([("b", pa.string())]))]), {"a": {"b": LINE}}),
    "name in a struct": (pa.list_(pa.struct([(LINE, pa.int32())])), [{LINE: 1}]),
    "key of a map": (pa.map_(pa.string(), pa.int32()), [(LINE, 1)]),
    "value of a map": (pa.map_(pa.string(), pa.list_(pa.string())), [("a", [LINE])]),
    "a list of its words": (pa.list_(pa.string()), LINE.split()),
}


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("ending", ["parquet", "arrow", "stream.arrow"])
def test_a_line_in_a_column_of_any_type_is_found(kind: str, ending: str, tmp_path: Path) -> None:
    of, value = TYPES[kind]
    table, out = pa.table({"q": [OTHER], "c": pa.array([value], of)}), io.BytesIO()
    if ending == "parquet":
        pq.write_table(table, out)
    else:
        new = pa.ipc.new_file if ending == "arrow" else pa.ipc.new_stream
        with new(out, table.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as into:
            into.write_table(table)
    assert is_found(release(tmp_path, f"rows.{ending}", out.getvalue()))


NAMED: dict[str, pa.Schema] = {
    "column": pa.schema([(LINE, pa.string())]),
    "metadata": pa.schema([("q", pa.string())], metadata={"note": LINE}),
    "key of metadata": pa.schema([("q", pa.string())], metadata={LINE: ""}),
    "metadata of a column": pa.schema([pa.field("q", pa.string(), metadata={"note": LINE})]),
}


@pytest.mark.parametrize("place", NAMED)
def test_a_line_in_the_schema_of_a_table_is_found(place: str, tmp_path: Path) -> None:
    out = io.BytesIO()
    pq.write_table(pa.table([pa.array([OTHER])], schema=NAMED[place]), out)
    assert is_found(release(tmp_path, "rows.parquet", out.getvalue()))


def test_columns_of_one_name_are_both_read(tmp_path: Path) -> None:
    out = io.BytesIO()
    pq.write_table(pa.Table.from_arrays([pa.array([LINE]), pa.array([OTHER])], names=["q", "q"]), out)
    assert is_found(release(tmp_path, "rows.parquet", out.getvalue()))


@pytest.mark.parametrize("label", ["koi8-r", "gb18030", "cp1252", "utf-16", "utf-7", "no such thing"])
@pytest.mark.parametrize("declaration", ['<meta charset="{}">', '<?xml version="1.0" encoding="{}"?>'])
def test_a_declared_encoding_hides_nothing(label: str, declaration: str, tmp_path: Path) -> None:
    text = f"{declaration.format(label)}\nFree for all.\n{LINE}\n"
    assert is_found(release(tmp_path, "LICENSE", text.encode()))
    table = as_csv(LINE).replace(b"id", declaration.format(label).encode(), 1)
    assert is_found(release(tmp_path / "table", "rows.csv", table))


ENCODINGS = ("cp1256", "iso8859-6", "mac_arabic", "utf-16", "utf-16-le", "utf-16-be", "utf-32-be", "gb18030")


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_file_that_declares_nothing_is_read_as_what_it_may_be(encoding: str, tmp_path: Path) -> None:
    text = f"Free for all.\n{LINE}\n".translate(str.maketrans("یکگ", "يكك"))
    assert is_found(release(tmp_path, "NOTICE.md", text.encode(encoding)))


MARKED = {
    "a tag": f"a <{LINE}> b",
    "an attribute": f'<a href="x" title="{LINE}">here</a>',
    "tags between letters": "".join(f"<b>{letter}</b>" for letter in LINE),
    "a comment": f"<!-- {LINE} -->",
    "tags as entities": html.escape("".join(f"<b>{letter}</b>" for letter in LINE)),
    "entities twice": html.escape(html.escape("".join(f"&#{ord(letter)};" for letter in LINE))),
    "three lines": "\n".join((LINE[:12], LINE[12:20], LINE[20:])),
    "surrogates": json.dumps("\U0001ee00".join(LINE.split("ا"))),
    "a name": "",
}


@pytest.mark.parametrize("place", MARKED)
def test_a_line_in_the_source_of_a_page_is_found(place: str, tmp_path: Path) -> None:
    name = f"{LINE}.txt" if place == "a name" else "NOTICE.md"
    assert is_found(release(tmp_path, name, MARKED[place].encode()))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("ف", "\u06a2"),
        ("ف", "\u06a1"),
        ("ق", "\u06a7"),
        ("ق", "\u066f"),
        ("ن", "\u06ba"),
        ("ب", "\u066e"),
        ("ی", "\u06d0"),
        ("ب", "ب\u0883"),
        ("ب", "ب\u0884\u0885"),
        ("ا", "ا\u3164"),
        ("ا", "\uffa0ا\u115f"),
    ],
)
def test_other_forms_of_a_letter_and_what_is_none_hide_nothing(old: str, new: str) -> None:
    text = f"{LINE} فق"
    assert old in text
    assert letters_of(text.replace(old, new)) == letters_of(text)


def test_short_texts_are_found_where_they_stand_alone(tmp_path: Path) -> None:
    short = "شکستگانیم باد"
    for name, data in {
        "rows.csv": as_csv(short),
        "comma.csv": f"id,q\n1,{short}\n".encode(),
        "rows.jsonl": FILES["ascii.jsonl"]({"a": [short]}),
        "key.json": json.dumps({short: 1}).encode(),
        "rows.xlsx": FILES["rows.jsonl.gz"]([short]),
        "page.html": f"<p>{short}</p>".encode(),
    }.items():
        assert is_found(release(tmp_path / name, name, data), short), name
    assert not is_found(release(tmp_path / "other", "NOTICE", f"آن {short} که".encode()), short)


def test_what_cannot_be_unpacked_is_said_to_be_unread(tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as into:
        into.writestr("inner", LINE)
    for name, data in {
        "a.parquet": b"PAR1 and no more",
        "a.arrow": b"ARROW1 and no more",
        "a.xlsx": packed.getvalue()[:-30],
        "a.gz": gzip.compress(LINE.encode())[:-12],
    }.items():
        unread = [one.place for one in printed(release(tmp_path / name, name, data)) if one.is_unread]
        assert unread == [name]
