"""The library: audits of frames and files, suspects and tables from results, a build, from a program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from mihakk.machinery.errors import UsageError
from mihakk.machinery.languages import pack
from mihakk.schemas.record import Language

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from mihakk.evaluation.joining import JoinBy, Joined
    from mihakk.evaluation.reading.reading import Reading as Choice
    from mihakk.evaluation.results import Reading
    from mihakk.evaluation.table.results import Results
    from mihakk.pipeline.external_summary import Audited, AuditSummary
    from mihakk.pipeline.run import Run
    from mihakk.validators.external.proposal import Proposal

Columns = str | Sequence[str]
"""A column's name, or the names of several."""
MOST_SHOWN = 300
"""Characters of an example in a notebook."""


class Audit:
    """What the checks found in a benchmark, and the benchmark without what they blocked.

    Attributes:
        summary: Counts: what was read, kept, flagged and blocked, and by which check.
        findings: A row a finding: check, severity, what is wrong, and where: `row` counts a table's rows
            from 0. What is found about the whole set has no row.
        clusters: A row a cause, the most worth a maintainer's time first: what it is, its rows (`rows` is how
            many, `items` their ids), the checks that objected, and the place of an example.
        verdicts: A row an item: pass, flag or block, and the rules that say so.
        errata: A row for each row of the benchmark that was changed, merged or removed, with the reason.
    """

    def __init__(self, audited: Audited, summary: AuditSummary, labels: Any = None) -> None:
        import pandas as pd

        self.summary = summary
        self._audited = audited
        names = ("findings", "clusters", "verdicts", "changes")
        tables = {name: pd.read_parquet(summary.files[name]) for name in names}
        for name in ("findings", "clusters"):
            places = {at: tables[name][at].astype("Int64") for at in ("row", "line")}
            tables[name] = tables[name].assign(**places)
        self.findings: pd.DataFrame = tables["findings"]
        self.clusters: pd.DataFrame = tables["clusters"]
        self.verdicts: pd.DataFrame = tables["verdicts"]
        self.errata: pd.DataFrame = tables["changes"]
        self._clean: pd.DataFrame = _frame_of(summary.files.get("clean"))
        if labels is not None:
            from mihakk.releases.cleaned.errata import STAY

            gone = set(self.errata.loc[~self.errata["change"].isin(STAY), "row"])
            self._clean.index = labels[[row for row in range(len(labels)) if row not in gone]]

    def clean(self) -> pd.DataFrame:
        """The rows that are kept, in the benchmark's own columns; texts of a csv or tsv stay texts.

        Rows of a pandas frame keep their labels.
        """
        return self._clean.copy()

    def to_sarif(self) -> str:
        """The findings as SARIF 2.1.0, which code hosts show beside a file's lines."""
        from mihakk.reports.external.findings_export import export_findings

        return export_findings(self._audited, "sarif")

    def report(self) -> str:
        """The page of the audit: HTML that needs no other file."""
        from mihakk.reports.external.page import write_benchmark_report

        with TemporaryDirectory(prefix="mihakk-") as folder:
            page = write_benchmark_report(self._audited, self.summary, Path(folder) / "report.html")
            return page.read_text(encoding="utf-8")

    def _repr_html_(self) -> str:
        from mihakk.pipeline.external_summary import WORTH_MOST
        from mihakk.reports.templates import direction

        items = {item.id: item for item in self._audited.benchmark.items}
        rows = []
        for cluster in self._audited.clusters[:WORTH_MOST]:
            item = items.get(cluster.example)
            said = item.question if item else cluster.detail
            way = direction(item.language) if item else "auto"
            cells = (cluster.cause.replace("_", " "), f"{cluster.rows:,}", cluster.severity, cluster.title)
            shown = "".join(f'<td dir="auto">{escape(cell)}</td>' for cell in cells)
            align = {"rtl": "right", "ltr": "left"}.get(way, "start")
            rows.append(f'{shown}<td dir="{way}" style="text-align:{align}">{escape(said[:MOST_SHOWN])}</td>')
        head = "".join(f"<th>{name}</th>" for name in ("cause", "rows", "effect", "what", "for example"))
        table = "".join(f"<tr>{row}</tr>" for row in rows)
        return f"<p>{escape(repr(self))}</p><table><tr>{head}</tr>{table}</table>"

    def __repr__(self) -> str:
        outcomes = Counter(self._audited.outcomes.values())
        counts = [f"{count:,} {outcome}" for outcome, count in outcomes.most_common()]
        if self.summary.unreadable:
            counts.append(f"{self.summary.unreadable:,} unreadable")
        return f"<Audit of {self.summary.rows:,} rows: {', '.join(counts)}>"


def _frame_of(path: str | None) -> pd.DataFrame:
    """A cleaned copy as a frame; an empty one where no row was kept."""
    import pandas as pd

    if path is None:
        return pd.DataFrame()
    text: dict[str, Any] = {"dtype": str, "keep_default_na": False}
    readers: dict[str, Any] = {
        ".parquet": pd.read_parquet,
        ".csv": lambda one: pd.read_csv(one, **text),
        ".tsv": lambda one: pd.read_csv(one, sep="\t", **text),
        ".xlsx": lambda one: pd.read_excel(one, **text),
        ".json": lambda one: pd.read_json(one, dtype=False),
        ".jsonl": lambda one: pd.read_json(one, lines=True, dtype=False),
    }
    found: pd.DataFrame = readers[Path(path).suffix](path)
    return found


def audit(
    data: Any,
    *,
    question: Columns = (),
    choices: Columns = (),
    gold: str = "",
    context: Columns = (),
    id: str = "",  # the role's own name, as on the command line
    subset: str = "",
    gold_as: str = "",
    language: Language = "ar",
    licence: str = "unknown",
    off: Sequence[str] = (),
    auditors: str = "",
) -> Audit:
    """Audits a benchmark: every row by the checks, and by two models where they are named.

    Args:
        data: A frame (pandas, polars, Arrow, `datasets`), rows as dicts, or the path of a file.
        question: Column of the question; several are joined. Without `question` and `gold` the columns are
            those that `propose` names.
        choices: One column an option, or one that holds a list of them; none for questions in words.
        gold: Column of the right option or answer.
        context: Columns of the text that the question rests on.
        id: Column of the row's own name.
        subset: Column of the part that the row belongs to.
        gold_as: How the gold names an option: `letter`, `index0`, `index1` or `text`; all rows tell if empty.
        language: Of the rows, by BCP 47; without a pack of its own the report says what is not checked.
        licence: Of the benchmark, SPDX.
        off: Ids of checks that do not run.
        auditors: A name in configs/auditors/ or a file; no model is asked without.

    Raises:
        UsageError: The data are no table, or have no such column.
    """
    from mihakk.pipeline.external_audit import AuditJob, run_audit
    from mihakk.schemas.benchmark import ChecksConfig

    pack(language)
    roles = {
        **{"question": question, "choices": choices, "gold": gold},
        **{"context": context, "id": id, "subset": subset, "gold_as": gold_as},
    }
    with TemporaryDirectory(prefix="mihakk-") as folder:
        source = _source(data, Path(folder))
        job = AuditJob(
            source=str(source),
            mapping=_mapping(roles, source),
            folder=Path(folder) / "out",
            auditors=auditors,
            language=language,
            licence=licence,
            checks=ChecksConfig(off=tuple(off)),
        )
        labels = data.index if hasattr(data, "iloc") else None  # a list has an `index` of another kind
        return Audit(*run_audit(job, lambda _: None), labels=labels)


def propose(data: Any) -> Proposal:
    """Which columns hold what: `guesses` with evidence, `alternatives`, and `mapping` as `audit` takes it.

    Where two readings fit the rows, `mapping` is empty, and `questions` has each reading with a row.

    Raises:
        UsageError: The data are no table, or none of its columns looks like a question or a gold.
    """
    from mihakk.validators.external.proposal import propose_for

    with TemporaryDirectory(prefix="mihakk-") as folder:
        return propose_for(str(_source(data, Path(folder))))


def read_choice(
    reply: str, labels: Sequence[str], options: Sequence[str], *, multiple: bool = False
) -> Choice:
    """Which options a written reply chooses, and by which rule.

    Args:
        reply: As the system wrote it.
        labels: As the prompt showed them, one an option.
        options: Texts of the options.
        multiple: Whether several may be chosen.

    Returns:
        `picks` has the places of the chosen options, `rule` how they were found; empty where none was.
    """
    from mihakk.evaluation.reading.written import read_written

    if len(labels) != len(options):
        raise UsageError(f"{len(labels)} labels for {len(options)} options: give one for each")
    return read_written("choice", reply, tuple(labels), tuple(options), multiple=multiple, cut=False)


def build(config: str | Path, *, lake: str | None = None, runs: Path | None = None) -> Run:
    """Builds a benchmark from its sources to its release, which goes to the embedded Hub.

    Args:
        config: A name in configs/benchmarks/ or a file.
        lake: Folder or URL of the stage tables, instead of the workspace's.
        runs: Where the record of the run goes, instead of the workspace's folder.

    Raises:
        UsageError: The config is wrong, or names what is not installed.
        ExternalFailure: Something outside failed; the same call goes on where it stopped.
    """
    from mihakk.machinery.settings import settings
    from mihakk.pipeline.build import open_build, run_folder
    from mihakk.pipeline.engines.choose import open_engine
    from mihakk.pipeline.observer import Silent
    from mihakk.pipeline.run import require_extras, run_pipeline

    path = Path(config)
    opened = open_build(path, run_folder(runs or settings().runs, path.stem), lake)
    require_extras(opened)
    with open_engine() as engine:
        return run_pipeline(opened, engine, Silent())


def suspects(
    results: Any,
    benchmark: Any = None,
    *,
    mapping: str = "",
    join: JoinBy = "auto",
    cells: str = "",
    systems: Columns = (),
    id: str = "",  # as in `audit`
    language: Language = "ar",
) -> pd.DataFrame:
    """Items that the answers of six or more systems speak against, the likeliest to be wrong first.

    Args:
        results: A frame or rows with a column a system or a row an answer; or the path, or paths, of files of
            results (tables, lm-eval, LightEval, Inspect, HELM, every_eval_ever) or of a folder of them.
        benchmark: What was asked: a frame, rows, a file, the folder of a release or of an audit. Without one
            the questions that the results show.
        mapping: Which columns of the benchmark hold what: `question=q,choices=A+B+C+D,gold=answer,id=id`;
            proposed if empty.
        join: How answers find their questions: by `id`, `text` or `order`; `auto` measures.
        cells: What a table's cells hold: `letter`, `index0`, `index1`, `correct`, `likelihoods` or `text`;
            told by the cells if empty.
        systems: A table's columns of systems; told by their cells if empty.
        id: A table's column of the items' names; told by its name if empty.
        language: Of the benchmark's rows.

    Returns:
        A row an item: `rank`, `items`, `reason`, `confidence`, `odds`, `gold`, `other`, shares of answers,
        `rest` (correlation with the other items) and `evidence` in a sentence.

    Raises:
        UsageError: The results are in no known form, nothing joins, or fewer than six systems answered.
    """
    from mihakk.evaluation.results import Reading, said
    from mihakk.evaluation.suspects import as_frame
    from mihakk.evaluation.suspects import suspects as ranked

    reading = Reading("", "", join, cells, _names(systems), id, language, mapping)
    joined = _joined(results, benchmark, reading)
    return as_frame(ranked(said(joined), joined.benchmark.questions))


def compare(
    results: Any,
    benchmark: Any = None,
    *,
    mapping: str = "",
    join: JoinBy = "auto",
    cells: str = "",
    systems: Columns = (),
    id: str = "",  # as in `audit`
    language: Language = "ar",
    seed: int = 0,
) -> Results:
    """Systems beside each other: figures with intervals, paired differences, ranks as intervals.

    Args:
        results: As `suspects` takes them.
        benchmark: Likewise.
        mapping: Likewise.
        join: Likewise.
        cells: Likewise.
        systems: Likewise.
        id: Likewise.
        language: Likewise.
        seed: Of bootstraps and permutations.

    Returns:
        Frames `cells` (a row a system), `pairs` and `items`, and `notes`; on the items that all systems
        answered, as the notes say where some are lacking.

    Raises:
        UsageError: The results are in no known form, or nothing joins.
    """
    from dataclasses import replace

    from mihakk.evaluation.results import Reading, score_frame
    from mihakk.evaluation.table.results import results as table
    from mihakk.evaluation.table.scores import answered_by_all

    reading = Reading("", "", join, cells, _names(systems), id, language, mapping)
    frame, notes = answered_by_all(score_frame(_joined(results, benchmark, reading)))
    found = table(frame, None, seed=seed)
    return replace(found, notes=(*notes, *found.notes))


def _names(columns: Columns) -> tuple[str, ...]:
    return (columns,) if isinstance(columns, str) else tuple(columns)


def _joined(results: Any, benchmark: Any, reading: Reading) -> Joined:
    """Results as they are given, joined to what was asked."""
    from mihakk.evaluation.benchmarks import of_folder_or_file
    from mihakk.evaluation.results import open_results

    pack(reading.language)
    with TemporaryDirectory(prefix="mihakk-") as folder:
        if isinstance(results, str | Path):
            paths = [Path(results)]
        elif (
            isinstance(results, Sequence) and results and all(isinstance(one, str | Path) for one in results)
        ):
            paths = [Path(one) for one in results]
        else:
            paths = [_source(_with_index(results), Path(folder))]
        asked = None
        if benchmark is not None:
            (Path(folder) / "benchmark").mkdir()
            source = _source(_with_index(benchmark), Path(folder) / "benchmark")
            asked = of_folder_or_file(source, reading.mapping, language=reading.language)
        return open_results(paths, reading, asked)


def _with_index(data: Any) -> Any:
    """A frame of pandas with the index as a column where it names rows: items often stand there."""
    if not hasattr(data, "iloc") or type(data.index).__name__ == "RangeIndex":
        return data
    return data.rename_axis(index=data.index.name or "id").reset_index() if data.index.nlevels == 1 else data


def _source(data: Any, folder: Path) -> Path:
    """A path that is read as a benchmark; a frame is written below a folder."""
    if isinstance(data, str | Path):
        return Path(data)
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "frame.parquet"
    try:
        # Without Arrow's own schema, categories and views of other libraries come back as plain texts.
        pq.write_table(_table_of(data), path, store_schema=False)
    except (pa.ArrowException, TypeError, AttributeError, LookupError, ValueError) as error:
        raise UsageError(f"the data are no table ({error}): give each column values of one kind") from error
    return path


def _table_of(data: Any) -> pa.Table:
    import pyarrow as pa

    if hasattr(data, "iloc"):  # pandas, whose index is no column
        return pa.Table.from_pandas(data, preserve_index=False)
    if isinstance(data, Mapping):
        names = ", ".join(map(str, list(data)[:5]))
        raise UsageError(f"{type(data).__name__} is no table: give one of its parts ({names}) or a frame")
    if hasattr(data, "with_format"):  # datasets
        return data.with_format("arrow")[:]
    if hasattr(data, "to_arrow"):  # polars, in types that older readers know
        data = data.to_arrow()
    if hasattr(data, "__arrow_c_stream__"):
        found = pa.table(data)
        fields = [
            field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
            for field in found.schema
        ]
        return found.cast(pa.schema(fields))
    if not isinstance(data, Iterable):
        raise UsageError(f"{type(data).__name__} is no table: give a frame, rows as dicts, or a file's path")
    rows = list(data)
    if not rows:
        raise UsageError("there are no rows; what can be read once, as a generator, is empty the second time")
    if odd := next((row for row in rows if not isinstance(row, Mapping)), None):
        raise UsageError(
            f"a row is {type(odd).__name__}: give rows as dicts, so that their columns have names"
        )
    columns = dict.fromkeys(name for row in rows for name in row)
    return pa.Table.from_pylist([{name: row.get(name) for name in columns} for row in rows])


def _mapping(roles: Mapping[str, Columns], source: Path) -> str:
    """Columns as the command line writes them; what is proposed where none is named."""
    from mihakk.validators.external.mapping import escaped
    from mihakk.validators.external.proposal import propose_for

    named = {role: _names(names) for role, names in roles.items() if names}
    if not named:
        return propose_for(str(source)).settled()
    if missing := [role for role in ("question", "gold") if role not in named]:
        raise UsageError(f"name the column of the {missing[0]} too: audit(..., {missing[0]}='COLUMN')")
    return ",".join(f"{role}={'+'.join(map(escaped, names))}" for role, names in named.items())
