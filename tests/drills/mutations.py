"""Files as nobody meant them: real ones altered in their structure or in their bytes, the same ones by a seed."""

from __future__ import annotations

import csv
import io
import json
import math
import zipfile
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

DEEP, LONG = "@deep@", "@long@"
"""Stand for what no writer writes: 5,000 levels and 5,000 digits; put in their place as text."""
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 7, 2**31, 2**63, 2**64, -(2**63) - 1, 10**30, 0.5, -0.0, 1e308, 5e-324),
    *(math.nan, math.inf, -math.inf, "", " ", "\0", "\ud800", "a\udfffb", "\ufeff", "\u202eabc", "[/bold]", "[red"),
    *("../../etc/passwd", "/", ".", "0001-01-01", "9999-12-31T23:59:59-14:00", "2026-02-30", "1e400", "NaN", "null"),
    *([], {}, [None], [[]], [{}], {"": None}, {"a": {"b": [1]}}, [1, "x", None], "x" * 70_000, "\u0651" * 300),
    *("%s{}{0}", "${HOME}", "=1+1", '"', "'", "a\nb\r\nc", "\x1b[31m", "\x85\u2028", "𝔘𝔫𝔦", "١٢٣", "سلام\u200c", DEEP, LONG),
    *(date(1, 1, 1), datetime(9999, 12, 31, tzinfo=UTC)),
)  # fmt: skip
CELLS: tuple[Any, ...] = tuple(value for value in VALUES if not isinstance(value, list | dict))


def mutated(name: str, data: bytes, rng: Random) -> bytes:
    """The file's bytes altered once to three times, by structure where its ending has a reader, or by byte."""
    suffix = name.rpartition(".")[2].lower()
    change = STRUCTURES.get(suffix)
    if change is None or rng.random() < 0.3:
        return of_bytes(data, rng)
    try:
        found = change(data, rng)
    except (
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        OverflowError,
        RecursionError,
        pa.ArrowException,
        yaml.YAMLError,
    ):
        return of_bytes(data, rng)  # a change that the format itself can't hold
    return of_bytes(found, rng) if rng.random() < 0.1 else found


def of_bytes(data: bytes, rng: Random) -> bytes:
    """Truncated, flipped, spliced, recoded or replaced."""
    place, other = (rng.randrange(len(data) + 1) for _ in range(2))
    first, last = sorted((place, other))
    text = data.decode("utf-8", "replace")
    return rng.choice(
        (
            lambda: data[:place],
            lambda: data[place:],
            lambda: b"".join(
                bytes([byte ^ 1 << rng.randrange(8)]) if rng.random() < 3 / len(data) else bytes([byte])
                for byte in data
            ),
            lambda: data[:first] + data[last:],
            lambda: data[:place] + data[first:last] + data[place:],
            lambda: data[:place] + rng.randbytes(rng.randrange(1, 40)) + data[place:],
            lambda: data[:place] + rng.choice((b"\0", b"\xff", b"\xed\xa0\x80", b'"', b"\n", b"\r", b"{", b"<")) + data[place:],
            lambda: data[:place] + rng.choice((b"<div>" * 3000, b"[" * 900, b"&x;", b"]]>")) + data[place:],
            lambda: b"\xef\xbb\xbf" + data,
            lambda: text.encode("utf-16"),
            lambda: text.encode("utf-16-le"),
            lambda: text.encode("utf-32"),
            lambda: text.encode("cp1256", "replace"),
            lambda: data.replace(b"\n", rng.choice((b"\r", b"\r\n", b"\n\n", b""))),
            lambda: rng.choice((b"", b"\n", b"\0" * 100, b"null", b"{}", b"[]", b"[" * 5000, b"PK\x03\x04", b"PAR1")),
            lambda: rng.randbytes(200),
        )
    )()  # fmt: skip


def change_value(value: Any, rng: Random) -> Any:
    """Plain data with one place in it altered."""
    inner = [value] if isinstance(value, dict | list) else []
    for one in inner:  # grows while it is walked
        inner += [
            each
            for each in (one.values() if isinstance(one, dict) else one)
            if isinstance(each, dict | list) and each
        ]
    if not inner:
        return rng.choice(VALUES)
    place = rng.choice(inner)
    if isinstance(place, list):
        return _change_list(value, place, rng)
    return _change_dict(value, place, rng)


def _change_list(whole: Any, place: list[Any], rng: Random) -> Any:
    number = rng.randrange(len(place)) if place else 0
    match rng.randrange(5):
        case 0 if place:
            del place[number]
        case 1 if place:
            place.append(place[number])
        case 2 if place:
            place[number] = rng.choice(VALUES)
        case 3 if place:
            place[number] = [place[number]]
        case _:
            place.insert(number, rng.choice(VALUES))
    return whole


def _change_dict(whole: Any, place: dict[Any, Any], rng: Random) -> Any:
    if not place:
        place["x"] = rng.choice(VALUES)
        return whole
    key = rng.choice(list(place))
    match rng.randrange(7):
        case 0:
            del place[key]
        case 1:
            place[f"{key}@twice@"] = rng.choice(VALUES)
        case 2:
            place[f"{key}x"] = place.pop(key)
        case 3:
            place[key] = rng.choice(([place[key]], {"a": place[key]}, str(place[key]), [place[key]] * 50))
        case 4:
            other = rng.choice(list(place))
            place[key], place[other] = place[other], place[key]
        case _:
            place[key] = rng.choice(VALUES)
    return whole


def json_text(value: Any, *, indent: int | None = None, readable: bool = False) -> bytes:
    """JSON with what no writer writes in the places of their marks."""
    text = json.dumps(value, ensure_ascii=not readable, indent=indent, default=str)
    text = text.replace(f'"{DEEP}"', "[" * 5000 + "]" * 5000).replace(f'"{LONG}"', "9" * 5000)
    return text.replace("@twice@", "").encode("utf-8", "surrogatepass")


def some_changes(value: Any, rng: Random, change: Callable[[Any, Random], Any] | None = None) -> Any:
    """The value changed once to three times."""
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        value = (change or change_value)(value, rng)
    return value


def _json(data: bytes, rng: Random) -> bytes:
    value = some_changes(json.loads(data), rng)
    return json_text(value, indent=rng.choice((None, 1)), readable=rng.random() < 0.5)


def _jsonl(data: bytes, rng: Random) -> bytes:
    """One line, most often, altered; lines in another order, twice or gone."""
    lines: list[Any] = [json.loads(line) for line in data.splitlines() if line.strip()]
    number = rng.randrange(len(lines))
    match rng.randrange(8):
        case 0:
            lines.append(lines[number])
        case 1:
            del lines[number]
        case 2:
            lines.insert(number, rng.choice(VALUES))
        case _:
            lines[number] = some_changes(lines[number], rng)
    readable = rng.random() < 0.5
    return b"".join(json_text(line, readable=readable) + b"\n" for line in lines)


def _delimited(mark: str) -> Callable[[bytes, Random], bytes]:
    def change(data: bytes, rng: Random) -> bytes:
        rows = list(csv.reader(io.StringIO(data.decode(), newline=""), delimiter=mark))
        rows = some_changes(rows, rng, _change_rows)
        out = io.StringIO(newline="")
        csv.writer(out, delimiter=rng.choice((mark, mark, mark, ";", "|", "\t"))).writerows(rows)
        return out.getvalue().replace(LONG, "9" * 5000).encode("utf-8", "surrogatepass")

    return change


def _change_rows(rows: list[list[Any]], rng: Random) -> list[list[Any]]:
    row = rng.choice(rows)
    match rng.randrange(8):
        case 0:
            rows.remove(row)
        case 1:
            rows.append(row)
        case 2:
            row.append(str(rng.choice(CELLS)))
        case 3 if row:
            row.pop(rng.randrange(len(row)))
        case 4 if row:
            rows[0][rng.randrange(len(rows[0]))] = str(rng.choice((*CELLS, rows[0][0])))
        case 5:
            rows.insert(rng.randrange(len(rows)), [])
        case _ if row:
            row[rng.randrange(len(row))] = str(rng.choice(CELLS))
    return rows or [[]]


def _yaml(data: bytes, rng: Random) -> bytes:
    if rng.random() < 0.3:
        return _yaml_text(data.decode(), rng).encode()
    value = some_changes(yaml.safe_load(data), rng)
    text = yaml.dump(value, allow_unicode=rng.random() < 0.5, sort_keys=False)
    return (
        text.replace(DEEP, "[" * 900 + "]" * 900)
        .replace(LONG, "9" * 5000)
        .replace("@twice@", "")
        .encode("utf-8", "surrogatepass")
    )


def _yaml_text(text: str, rng: Random) -> str:
    """One value replaced by what only YAML can write."""
    lines = [number for number, line in enumerate(text.splitlines()) if ":" in line]
    found = text.splitlines()
    number = rng.choice(lines)
    value = rng.choice(
        ("&a [*a]", "&a {b: *a}", "*none", "!!python/object:os.system x", "!!binary aGk=", "!!set {a, b}", "!!float x",
         "!!int ''", "!!timestamp x", "2026-02-30", "2026-13-01T00:00:00Z", "!x y", "? [a, b] : c", "{[a, b]: c}",
         "0x", "0b", "1:99", "1_0", "~", ".inf", ".nan", "-.inf", "<<: 7", "{<<: [1]}", "| \n  a\n b", "@a", "`a",
         "%a", "'a", '"\\ud800"', '"\\x00"', "\t", "0777", "1e5000", "{a: 1, a: 2}", "[" * 900, "- - -", "...", "---",
         "!!omap [a: 1]", "!!pairs [a]", "!!null x", "!!bool x", "!!str [a]", "!!seq {a: 1}", "!!map [a]")
    )  # fmt: skip
    key = found[number].partition(":")[0]
    found[number] = f"{key}: {value}" if rng.random() < 0.9 else f"{found[number]}\n{key}: {value}"
    return "\n".join(found) + "\n"


def _parquet(data: bytes, rng: Random) -> bytes:
    table = some_changes(pq.read_table(io.BytesIO(data)), rng, _change_table)
    out = io.BytesIO()
    pq.write_table(table, out, compression=rng.choice(("none", "snappy", "zstd")))
    return out.getvalue()


def _change_table(table: pa.Table, rng: Random) -> pa.Table:
    place = rng.randrange(table.num_columns)
    name, column, rows = table.column_names[place], table.column(place), table.num_rows
    made: tuple[Callable[[], Any], ...] = (
        lambda: pa.nulls(rows),
        lambda: column.combine_chunks().dictionary_encode(),
        lambda: pa.array([str(one).encode("utf-8", "replace") + b"\xff" for one in column.to_pylist()]),
        lambda: pa.array(
            [datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=n) for n in range(rows)],
            pa.timestamp("ns", "UTC"),
        ),
        lambda: pa.array([2**62 + n for n in range(rows)], pa.timestamp("s")),
        lambda: pa.array([{"a": one} for one in column.to_pylist()]),
        lambda: pa.array([[one] for one in column.to_pylist()]),
        lambda: pa.array([[("k", 1), ("k", 2)]] * rows, pa.map_(pa.string(), pa.int64())),
        lambda: pa.array([rng.random() for _ in range(rows)]),
        lambda: pa.array([math.nan] * rows),
        lambda: pa.array([rng.choice((None, True)) for _ in range(rows)]),
        lambda: pa.array([Decimal("1.50")] * rows),
        lambda: pa.array([timedelta(days=1)] * rows),
        lambda: pa.array([date(1, 1, 1)] * rows),
        lambda: pa.array([2**63 - 1] * rows),
        lambda: pa.array([rng.choice((None, one)) for one in column.to_pylist()], column.type),
        lambda: pa.array([str(rng.choice(CELLS)).encode("utf-8", "replace").decode() for _ in range(rows)]),
        lambda: column.cast(pa.large_string()),
    )
    match rng.randrange(8):
        case 0:
            return table.remove_column(place)
        case 1:
            return table.append_column(rng.choice((name, "", "x", "a.b")), column)
        case 2:
            return table.slice(0, rng.randrange(rows + 1))
        case 3:
            return pa.concat_tables([table, table.slice(0, 1)])
        case 4:
            return table.rename_columns(
                [f"{one}x" if n == place else one for n, one in enumerate(table.column_names)]
            )
        case _:
            return table.set_column(place, name, rng.choice(made)())


def _xlsx(data: bytes, rng: Random) -> bytes:
    import openpyxl

    if rng.random() < 0.4:
        return _part_of_zip(data, rng)
    book = openpyxl.load_workbook(io.BytesIO(data))
    sheet = book.worksheets[0]
    for _ in range(rng.choice((1, 1, 2, 5))):
        cell = sheet.cell(rng.randrange(1, sheet.max_row + 2), rng.randrange(1, sheet.max_column + 2))
        match rng.randrange(7):
            case 0:
                sheet.merge_cells(
                    start_row=cell.row,
                    start_column=cell.column,
                    end_row=cell.row + rng.randrange(3),
                    end_column=cell.column + rng.randrange(3),
                )
            case 1:
                cell.value, cell.data_type = rng.choice(("#REF!", "#N/A", "#DIV/0!")), "e"
            case 2:
                cell.value = rng.choice(("=1/0", "=A1", "=SUM(A:A)", '=HYPERLINK("x")'))
            case 3:
                cell.value = rng.choice(
                    (
                        date(2026, 1, 1),
                        datetime(1900, 1, 1, tzinfo=UTC).replace(tzinfo=None),
                        timedelta(days=2),
                        True,
                        1e300,
                    )
                )
            case 4:
                sheet.insert_rows(cell.row)
            case 5:
                book.create_sheet("x", rng.choice((0, 1)))
            case _:
                cell.value = "".join(
                    one for one in str(rng.choice(CELLS)) if one >= " " and not "\ud800" <= one <= "\udfff"
                )[:32_000]
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def _part_of_zip(data: bytes, rng: Random) -> bytes:
    """One part of the archive altered by byte, replaced by a bomb, or gone."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as given, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as made:
        chosen = rng.choice(given.namelist())
        for name in given.namelist():
            part = given.read(name)
            if name != chosen:
                made.writestr(name, part)
            elif (what := rng.randrange(10)) == 0:
                made.writestr(name, b" " * 30_000_000 if rng.random() < 0.2 else b" " * 100_000)
            elif what == 1:
                made.writestr(name, b'<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><x>&b;</x>')
            elif what > 2:
                made.writestr(name, of_bytes(part, rng))
    return out.getvalue()


STRUCTURES: dict[str, Callable[[bytes, Random], bytes]] = {
    **{"json": _json, "jsonl": _jsonl, "csv": _delimited(","), "tsv": _delimited("\t")},
    **{"yaml": _yaml, "parquet": _parquet, "xlsx": _xlsx, "epub": _part_of_zip},
}


def formats(stem: str, rows: list[dict[str, Any]]) -> dict[str, bytes]:
    """The same rows as jsonl, json, csv, tsv, Parquet and xlsx."""
    from openpyxl import Workbook

    columns = list(dict.fromkeys(name for row in rows for name in row))
    flat = [
        [
            ""
            if row.get(name) is None
            else row[name]
            if isinstance(row[name], str | int | float)
            else json.dumps(row[name], ensure_ascii=False)
            for name in columns
        ]
        for row in rows
    ]
    found = {
        f"{stem}.jsonl": b"".join(json.dumps(row, ensure_ascii=False).encode() + b"\n" for row in rows),
        f"{stem}.json": json.dumps(rows, ensure_ascii=False).encode(),
    }
    for suffix, mark in (("csv", ","), ("tsv", "\t")):
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=mark).writerows([columns, *flat])
        found[f"{stem}.{suffix}"] = text.getvalue().encode()
    out = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(rows), out)
    found[f"{stem}.parquet"] = out.getvalue()
    book = Workbook()
    for line in (columns, *flat):
        book.worksheets[0].append(line)
    out = io.BytesIO()
    book.save(out)
    found[f"{stem}.xlsx"] = out.getvalue()
    return found
