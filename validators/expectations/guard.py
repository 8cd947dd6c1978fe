"""Guards between stages: a table that breaks its contract stops the run before anything is built on it."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mihakk.machinery.settings import settings
from mihakk.validators.expectations.contracts import CONTRACTS, SHOWN, References, TableName, TableViolation

if TYPE_CHECKING:
    import pandas as pd

_NUMBERS = count(1)
"""Of the tables examined in this process: no two assets may have one name."""


@dataclass(frozen=True, slots=True)
class TableResult:
    """What a suite found in one table."""

    table: TableName
    rows: int
    violations: tuple[str, ...]
    outcome: Any
    """Great Expectations' own result, for the Data Docs; None without rows or without that package."""


def has_pages() -> bool:
    """Whether Great Expectations checks the suites and makes pages of them: it is installed and asked for.

    Without it the same suites are checked, and there are no pages.
    """
    return settings().data_docs and find_spec("great_expectations") is not None


def examine(
    table: TableName, frames: Iterable[pd.DataFrame], references: References | None = None, *, name: str = ""
) -> TableResult:
    """Runs the suite of the table's contract.

    Args:
        table: Which contract.
        frames: The table's parts as pandas reads them from parquet.
        references: Ids of other tables for the foreign keys, e.g. `{"items": ids}`.
        name: What the Data Docs call this table; the suite's name if empty.
    """
    columns = CONTRACTS[table].flat(frames, references or {})
    if columns.empty:
        return TableResult(table, 0, (), None)
    if not has_pages():
        return TableResult(table, len(columns), tuple(_violations(table, columns)), None)
    import great_expectations as gx

    batch = (
        _source()
        .add_dataframe_asset(name=f"{name or table} {next(_NUMBERS)}")
        .add_batch_definition_whole_dataframe("all")
    )
    suite = gx.ExpectationSuite(name=name or table)
    for kind, arguments in CONTRACTS[table].expectations():
        suite.add_expectation(getattr(gx.expectations, kind)(**arguments))
    outcome = batch.get_batch({"dataframe": columns}).validate(suite)
    found = tuple(_outcome_violation(one) for one in outcome.results if not one.success)
    return TableResult(table, len(columns), found, outcome)


def _violations(table: TableName, columns: pd.DataFrame) -> Iterator[str]:
    """What Great Expectations would say of the table, without it; cells without a value break one alone."""
    for kind, arguments in CONTRACTS[table].expectations():
        names = arguments.get("column_list") or [arguments["column"]]
        cells = (
            columns[names] if kind == "ExpectColumnValuesToNotBeNull" else columns[names].dropna(how="all")
        )
        breaks = cells[_breaks(kind, arguments, cells)]
        if len(breaks):
            rows = breaks.to_dict("records") if len(names) > 1 else breaks[names[0]].tolist()
            name = re.sub(r"(?<!^)(?=[A-Z])", "_", kind).lower()
            yield _violation(name, arguments, len(breaks), rows)


def _breaks(kind: str, arguments: Mapping[str, Any], cells: pd.DataFrame) -> pd.Series[bool]:
    """Which rows an expectation does not hold of."""
    column = cells.iloc[:, 0]
    match kind:
        case "ExpectColumnValuesToNotBeNull":
            return column.isna()
        case "ExpectColumnValuesToMatchRegex":
            pattern = re.compile(arguments["regex"])
            found: pd.Series[bool] = column.map(lambda text: pattern.search(text) is None).astype(bool)
            return found
        case "ExpectColumnValuesToBeUnique" | "ExpectCompoundColumnsToBeUnique":
            return cells.duplicated(keep=False)
        case "ExpectColumnValuesToBeBetween":
            least, most = arguments["min_value"], arguments["max_value"]
            return ~column.between(least, column.max() if most is None else most)
        case "ExpectColumnValuesToBeInSet":
            return ~column.isin(arguments["value_set"])
    raise NotImplementedError(kind)


def require(results: Sequence[TableResult]) -> None:
    """Stops the run when a table breaks its contract.

    Raises:
        TableViolation: Names every table and what is wrong with it.
    """
    broken = [f"{result.table}: {found}" for result in results for found in result.violations]
    if broken:
        raise TableViolation("stage tables break their contract:\n  " + "\n  ".join(broken))


def data_docs(folder: Path, results: Sequence[TableResult]) -> Path:
    """Builds Great Expectations' Data Docs of these results, without a network.

    Args:
        folder: Where the pages go; what an earlier build left there is replaced.
        results: Of one run; tables without rows have no page.

    Returns:
        The index page.
    """
    context = _context()
    _keep(context, results)
    site = {
        "class_name": "SiteBuilder",
        "site_index_builder": {"class_name": "DefaultSiteIndexBuilder"},
        "store_backend": {
            "class_name": "TupleFilesystemStoreBackend",
            "base_directory": str(folder.resolve()),
        },
    }
    if "mihakk" in context.get_site_names():
        context.delete_data_docs_site("mihakk")
    context.add_data_docs_site(site_name="mihakk", site_config=site)
    context.build_data_docs(site_names=["mihakk"])
    return folder / "index.html"


def _keep(context: Any, results: Sequence[TableResult]) -> None:
    """Puts the results into the context's store, where the site builder looks for them."""
    from great_expectations.core.run_identifier import RunIdentifier
    from great_expectations.data_context.types.resource_identifiers import (
        ExpectationSuiteIdentifier,
        ValidationResultIdentifier,
    )

    run = RunIdentifier(run_name="mihakk")
    for result in results:
        if result.outcome is None:
            continue
        name = result.outcome.suite_name
        key = ValidationResultIdentifier(
            expectation_suite_identifier=ExpectationSuiteIdentifier(name=name),
            run_id=run,
            batch_identifier=name,
        )
        context.validation_results_store.set(key, result.outcome)


def _outcome_violation(outcome: Any) -> str:
    config, found = outcome.expectation_config, outcome.result
    if outcome.exception_info.get("raised_exception"):
        return f"{_columns(config.kwargs)}: {outcome.exception_info.get('exception_message')}"
    examples = found.get("partial_unexpected_list", [])
    return _violation(config.type, config.kwargs, found.get("unexpected_count", 0), examples)


def _violation(kind: str, arguments: Mapping[str, Any], rows: int, examples: Sequence[Any]) -> str:
    limits = {
        name: value
        for name, value in arguments.items()
        if name in ("value_set", "regex", "min_value", "max_value") and value is not None
    }
    said = f" {limits}" if limits else ""
    return f"{_columns(arguments)}: {rows} rows break {kind}{said}, e.g. {list(examples[:SHOWN])}"


def _columns(arguments: Mapping[str, Any]) -> str:
    return arguments.get("column") or ", ".join(arguments.get("column_list", ()))


@cache
def _context() -> Any:
    import great_expectations as gx
    from great_expectations.data_context.types.base import ProgressBarsConfig

    logging.getLogger("great_expectations").setLevel(logging.ERROR)
    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    return context


@cache
def _source() -> Any:
    return _context().data_sources.add_pandas("stage tables")
