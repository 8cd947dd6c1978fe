"""A dataset on the Hub, read lazily at one revision through a map of columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from mihakk.machinery.errors import ExternalFailure, SourceChanged, UsageError
from mihakk.machinery.ids import canonical_json
from mihakk.schemas.rejection import Rejection
from mihakk.scrapers.mapping import RowIds, RowOptions, record, resolve_columns
from mihakk.scrapers.raw import RawStore
from mihakk.scrapers.source import Entry, Source, register
from mihakk.scrapers.table_signs import TableSigns, problems
from mihakk.scrapers.tables import Row


class HubOptions(RowOptions):
    """Which dataset, at which revision."""

    dataset: str
    """`owner/name`, or a folder of the Hub's layout."""
    revision: str = ""
    """Commit or tag; needed for a dataset on the Hub, whose main branch moves."""
    config: str = ""
    split: str = "train"


def _rows(options: HubOptions) -> Iterable[dict[str, Any]]:
    """Rows as they come; nothing is downloaded beyond what is read.

    Raises:
        UsageError: No revision, or no such dataset, config or split.
        ExternalFailure: The Hub can't be reached.
    """
    import datasets

    local = Path(options.dataset).is_dir()
    if not local and not options.revision:
        raise UsageError(
            f"source 'hub': {options.dataset} needs the option `revision` (a commit or tag): its main "
            "branch can change between two builds"
        )
    try:
        rows: Iterable[dict[str, Any]] = datasets.load_dataset(
            options.dataset,
            options.config or None,
            split=options.split,
            revision=options.revision or None,
            streaming=True,
        )
    except (ValueError, FileNotFoundError, datasets.exceptions.DatasetNotFoundError) as error:
        raise UsageError(f"source 'hub': {options.dataset} can't be opened: {error}") from error
    except (ConnectionError, OSError) as error:
        raise ExternalFailure(f"source 'hub': the Hub can't be reached: {error}") from error
    return rows


def scrape(options: HubOptions, raw: RawStore) -> Iterator[Entry]:
    """Records of all rows of one split.

    Raises:
        SourceChanged: Signs that the rows were misread; all of them were given before.
    """
    name = Path(options.dataset).name if Path(options.dataset).is_dir() else options.dataset
    revision = f"@{options.revision}" if options.revision else ""
    address = f"hf://datasets/{name}{revision}/{options.config or 'default'}/{options.split}"
    columns: dict[str, str] | None = None
    ids = RowIds(options)
    signs = TableSigns(address)
    number = 0
    for number, row in enumerate(_rows(options), start=1):
        place = f"{address}#{number}"
        if columns is None:
            columns = resolve_columns(options.kind, options.columns, options.ignore, list(row), address)
        try:
            data = canonical_json(row)
        except TypeError as error:
            yield Rejection(record=place, reason="row_invalid", detail=f"{place}: {error}")
            continue
        signs.look(Row(number, row), columns)
        yield from record(
            options.kind,
            row,
            columns,
            defaults={"language": options.language},
            ids=ids,
            number=number,
            provenance=SOURCE.provenance(
                place, raw.keep(data), licence=options.licence, attribution=options.attribution
            ),
        )
    if not number:
        raise UsageError(f"source 'hub': {address} has no rows: choose another split or config")
    if found := problems([signs], options.accept):
        raise SourceChanged("; ".join(found))


SOURCE = register(
    Source(
        name="hub",
        extra="sources",
        title="A dataset on the Hub",
        licence="unknown",
        home="https://huggingface.co/datasets",
        languages=("ar", "fa", "en"),
        options=HubOptions,
        parser_version="1",
        scrape=scrape,
    )
)
