"""croissant.json: the release described for machines (Croissant 1.0, ML Commons)."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from mihakk.releases.content.item_tables import data_files
from mihakk.releases.licence import licences
from mihakk.releases.release_facts import ReleaseFacts
from mihakk.schemas.benchmark import BenchmarkConfig

CONTEXT = Path(__file__).with_name("croissant_context.json")
"""The context that the Croissant 1.0 specification asks every file to carry."""


def croissant(
    config: BenchmarkConfig, facts: ReleaseFacts, version: str, folder: Path, digests: Mapping[str, str]
) -> bytes:
    """The file's bytes."""
    release = config.release
    known = licences()
    objects, sets = [], []
    for name, split, path in data_files(folder):
        where = path.relative_to(folder).as_posix()
        objects.append(
            {
                "@type": "cr:FileObject",
                "@id": where,
                "name": where,
                "contentUrl": where,
                "contentSize": f"{path.stat().st_size} B",
                "encodingFormat": "application/x-parquet",
                "sha256": digests[where],
            }
        )
        sets.append(_record_set(f"{name}/{path.stem}", f"{name}, {split} split", where, path))
    entry: dict[str, Any] = {
        "@context": orjson.loads(CONTEXT.read_bytes()),
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": config.name,
        "description": f"{release.title or config.title}, version {version}.",
        "version": version,
        "license": known[release.licence].url if release.licence in known else release.licence,
        "url": f"https://huggingface.co/datasets/{release.repository or config.name}",
        "creator": [{"@type": "sc:Organization", "name": author} for author in release.authors],
        "citeAs": f"{', '.join(release.authors)}: {release.title or config.title}, version {version}.",
        "inLanguage": sorted({name.split("_", 1)[0] for name, _, _ in data_files(folder)}),
        "distribution": objects,
        "recordSet": sets,
    }
    if facts.date:
        entry["datePublished"] = facts.date
    return orjson.dumps(entry, option=orjson.OPT_INDENT_2) + b"\n"


def _record_set(identifier: str, description: str, file: str, path: Path) -> dict[str, Any]:
    schema = pq.read_schema(path)
    return {
        "@type": "cr:RecordSet",
        "@id": identifier,
        "name": identifier,
        "description": description,
        "key": {"@id": f"{identifier}/id"},
        "field": [
            _field(identifier, file, column) for column in schema if not pa.types.is_struct(column.type)
        ],
    }


def _field(identifier: str, file: str, column: Any) -> dict[str, Any]:
    kind = column.type
    repeated = pa.types.is_list(kind)
    value = kind.value_type if repeated else kind
    field: dict[str, Any] = {
        "@type": "cr:Field",
        "@id": f"{identifier}/{column.name}",
        "name": column.name,
        "dataType": _data_type(value),
        "source": {"fileObject": {"@id": file}, "extract": {"column": column.name}},
    }
    if repeated:
        field["repeated"] = True
    return field


def _data_type(kind: Any) -> str:
    if pa.types.is_boolean(kind):
        return "sc:Boolean"
    return "sc:Integer" if pa.types.is_integer(kind) else "sc:Text"
