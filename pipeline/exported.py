"""What a suite asks, published benchmarks too, as folders in a release's form: rows, task files, digests."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import pyarrow as pa

from mihakk.evaluation.running.asking import Asked
from mihakk.machinery.errors import UsageError
from mihakk.machinery.groups import grouped
from mihakk.machinery.markdown import plain
from mihakk.releases.card.structure import front_matter
from mihakk.releases.content.checksum import write_manifest
from mihakk.releases.content.item_tables import (
    Placed,
    Renders,
    item_schema,
    item_table,
    with_ability,
    with_version,
    write_split,
)
from mihakk.releases.export.tasks import write_tasks
from mihakk.releases.hub.load import require_empty
from mihakk.schemas.item import ITEM_ROWS, Item, Origin

_FACTS: Final = ("record", "dialect", "strategy")
"""Slices of a question that have columns of their own in a release."""


def export_suite(asked: Iterable[Asked], out: Path, licence: str = "unknown") -> dict[Path, int]:
    """One folder below `out` for each benchmark that is asked, in the first wording; folder to its rows.

    Programs and probes have no place among items and are left out.

    Raises:
        UsageError: A folder is not empty, or nothing is left.
    """
    own = [one for one in asked if one.question.kind != "code" and _is_plain(one)]
    if not own:
        raise UsageError("the suite asks no question that can be an item of a release: programs alone")
    found = grouped(own, lambda one: out / one.question.release.rpartition("/")[2])
    for folder in found:
        require_empty(folder)
    for folder, part in found.items():
        export(part, folder, licence)
    return {folder: len(part) for folder, part in found.items()}


def export(asked: Sequence[Asked], folder: Path, licence: str = "unknown") -> None:
    """Writes questions of one benchmark with their prompts, labels and golds as they are asked.

    Ids, clusters, configs and slices stay; rows go into the split `test`. A config of choices and answers
    becomes two, as a table of a release holds one kind.
    """
    first = asked[0].question
    kinds_of = grouped(asked, lambda one: (one.question.config, one.question.kind))
    by_config = {
        config if sum(other == config for other, _ in kinds_of) == 1 else f"{config}_{kind}": own
        for (config, kind), own in kinds_of.items()
    }
    for config, own in by_config.items():
        write_split(_table(config, own, licence), folder / config, "test")
    kinds = {config: own[0].question.kind for config, own in by_config.items()}
    name = first.release.rpartition("/")[2]
    write_tasks(name, first.version, kinds, folder, code_version=version("mihakk"), core=())
    front = front_matter(
        pretty_name=name,
        languages=sorted({one.question.language for one in asked}),
        licence=licence,
        tags=("published",),
        version=first.version,
        configs=[{"config_name": config, "data_files": [{"split": "test", "path": f"{config}/test-*"}]}
                 for config in by_config],
    )  # fmt: skip
    told = (
        f"{len(asked)} questions of {plain(first.release)} (digest {first.digest[:16]}) with the prompts "
        "that a suite asks them in. They are the work of their authors, under their licence: don't pass on "
        "what that does not allow."
    )
    (folder / "README.md").write_text(f"{front}# {plain(name)}\n\n{told}\n", encoding="utf-8")
    write_manifest(folder)


def _table(config: str, asked: Sequence[Asked], licence: str) -> Any:
    """The rows of a config, with what items of a build take from elsewhere (labels, digest) or lack."""
    prompts = {one.question.item: one.whole for one in asked}
    placed = [Placed(_item(one, licence), "test", one.question.group, "", "checks") for one in asked]
    schema = item_schema(config, [one.item for one in placed])
    table = item_table(schema, placed, "", Renders(lambda item, _: prompts[item.id]))
    first = asked[0].question
    (table,) = with_ability({config: {"test": table}}, {config: first.ability})[config].values()
    own = {"content_hash": pa.string()}
    if first.kind == "choice":
        own |= {"labels": pa.list_(pa.string()), "multiple": pa.bool_()}
    if first.kind == "answer" and any(one.question.verses for one in asked):
        own["verses"] = pa.list_(pa.string())
    for name, kind in own.items():
        values = pa.array([getattr(one.question, name) for one in asked], kind)
        place = table.schema.get_field_index(name)
        table = table.append_column(name, values) if place < 0 else table.set_column(place, name, values)
    unseen = pa.repeat("", len(asked)).cast(pa.string())
    table = table.set_column(table.schema.get_field_index("audit_state"), "audit_state", unseen)
    return with_version(table, first.version)


def _item(one: Asked, licence: str) -> Item:
    """A question as an item, whose words are the prompt as its authors put it."""
    question, facts = one.question, one.question.slices
    origin = Origin(
        records=(facts["record"],) if "record" in facts else (),
        generator="external",
        generator_version=one.template_version,
        strategy=facts.get("strategy", ""),
    )
    fields = {
        **dict(question),
        "id": question.item,
        "question": one.prompt,
        "dialect": facts.get("dialect", ""),
        "subset": facts.get("subset", ""),
        "metadata": {name: value for name, value in facts.items() if name not in _FACTS},
        "split": "test",
        "licence": licence,
        "origin": origin,
    }
    (model,) = (one for one in ITEM_ROWS if one.model_fields["kind"].default == question.kind)
    return model.model_validate({name: fields[name] for name in model.model_fields if name in fields})


def _is_plain(one: Asked) -> bool:
    return one.wording == 0 and one.question.ability != "probe"
