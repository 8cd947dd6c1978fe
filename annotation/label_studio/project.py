"""One labelling project on a server: found again, checked, listed, its queue in views."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote, unquote

from mihakk.annotation.label_studio.connection import Connection
from mihakk.annotation.screens.labelling import Labelling, labelling, template_names, words
from mihakk.annotation.screens.tasks import PREFILL
from mihakk.machinery.errors import UsageError
from mihakk.machinery.ids import sha256
from mihakk.schemas.record import LANGUAGE_CODE, Language

_MARKER = re.compile(r"^mihakk:(?P<name>\S+) config:(?P<config>[0-9a-f]{16})$")
_PAGE = 1000
_TITLE = 50
CALIBRATION = "~calibration"
"""Ends the name under which a benchmark's calibration projects are known: nothing is skipped in them."""
DISPUTED = "Disputed"
"""Title of the tab with the items that an adjudicator or one more person has to decide."""
UNUSED = "Made twice at once, unused: may be deleted"
"""Title of an empty project whose push goes on with the one that another push made first."""
_ROW = ("id", "created_at", "description", "label_config", "maximum_annotations")
"""What we read of a project; without naming it the server counts the work in every project it lists."""
_COLUMNS = (
    *("id", "data", "annotators", "cancelled_annotations", "total_annotations", "overlap", "is_labeled"),
    "updated_by",
)


@dataclass(frozen=True)
class Held:
    """One task as the server holds it."""

    task: int
    sample: str
    content_hash: str
    annotations: int
    """Finished ones. The server's own count stays too low where it was killed, or busy, between an annotation
    and its count; so those whose annotations it lists are counted too."""
    overlap: int
    labeled: bool
    """The server offers it to nobody any more."""
    touched: bool = False
    """Somebody has answered it, or changed or deleted an answer."""


@dataclass(frozen=True)
class Project:
    """A project on a server, known by a marker in its description, so that it may be renamed."""

    connection: Connection
    id: int
    name: str
    """`<benchmark>:<template>:<screen>`, and `:<dialect>` where people are assigned to dialects."""
    labelling: Labelling
    overlap: int
    marker: str
    """Its description, which holds its name and the digest of the config we gave it."""
    edited: bool
    """Its labelling config was changed by hand."""
    origin: str
    """Digest of when it was made and of its id: another server's project 1 is another project."""

    @property
    def language(self) -> Language:
        """Language of its screen and its texts."""
        return self.name.split(":")[2]

    @property
    def dialect(self) -> str:
        """The dialect its texts are in; empty where it holds every dialect, or texts without one."""
        return unquote((*self.name.split(":"), "")[3])

    def held(self) -> list[Held]:
        """All its tasks that we made, by task id: one listing, a thousand a page."""
        return [held for row in self._rows() if (held := _held(row)) is not None]

    def task_count(self) -> int:
        """How many tasks it has, ours and others."""
        return int(self.connection.get(f"/api/projects/{self.id}", include="task_number")["task_number"])

    def _rows(self) -> Iterator[dict[str, Any]]:
        page, total = 1, 1
        while (page - 1) * _PAGE < total:
            answer = self.connection.get(
                "/api/tasks",
                project=self.id,
                fields="task_only",
                include=",".join(_COLUMNS),
                page_size=_PAGE,
                page=page,
                review=True,  # the server looks the annotators up only then
            )
            total = int(answer["total"])
            yield from answer["tasks"]
            page += 1


def find_projects(connection: Connection, benchmark: str) -> list[Project]:
    """All projects of a benchmark on the server, by name; `UsageError` where two say they are the same."""
    found: dict[str, dict[str, Any]] = {}
    for name, row in _listed(connection):
        if name.partition(":")[0] != benchmark:
            continue
        if name in found:
            ids = f"{found[name]['id']} and {row['id']}"
            raise UsageError(f"projects {ids} at {connection.url} both say they are {name}; delete one")
        found[name] = row
    projects = []
    for name, row in sorted(found.items()):
        _, template, screen = name.split(":")[:3]
        if template in template_names() and re.fullmatch(LANGUAGE_CODE, screen):
            marker = _MARKER.match(row["description"])
            edited = marker is None or config_digest(row["label_config"]) != marker["config"]
            projects.append(
                Project(
                    connection,
                    row["id"],
                    name,
                    labelling(template, screen, skips=not benchmark.endswith(CALIBRATION)),
                    row["maximum_annotations"],
                    row["description"],
                    edited,
                    _origin(row),
                )
            )
    return projects


def _listed(connection: Connection) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every project on the server with its name, see `Project.name`."""
    page = 1
    while page:
        answer = connection.get("/api/projects", page_size=100, page=page, include=",".join(_ROW))
        yield from ((_name(row), row) for row in answer["results"])
        page = page + 1 if answer.get("next") else 0


def find_project(
    connection: Connection, benchmark: str, template: str, screen: Language, dialect: str = ""
) -> Project | None:
    """The project of that benchmark, template, screen language and dialect; None when there is none."""
    name = project_name(benchmark, template, screen, dialect)
    return next((found for found in find_projects(connection, benchmark) if found.name == name), None)


def project_name(benchmark: str, template: str, screen: Language, dialect: str = "") -> str:
    """What the project is known by, see `Project.name`."""
    own = f":{quote(dialect, safe='')}" if dialect else ""
    return f"{benchmark}:{template}:{screen}{own}"


def ensure_project(
    connection: Connection,
    benchmark: str,
    template: str,
    screen: Language,
    dialect: str = "",
    *,
    overlap: int = 2,
) -> Project:
    """The project, made or brought up to date; `UsageError` where its config was edited by hand."""
    wanted = labelling(template, screen, skips=not benchmark.endswith(CALIBRATION))
    name = project_name(benchmark, template, screen, dialect)
    settings: dict[str, Any] = {
        "label_config": wanted.config,
        "description": f"mihakk:{name} config:{config_digest(wanted.config)}",
        "maximum_annotations": overlap,
        "expert_instruction": wanted.instructions,
        "show_instruction": True,
        "show_skip_button": True,
        "enable_empty_annotation": False,
        "show_collab_predictions": True,
    }
    project = find_project(connection, benchmark, template, screen, dialect)
    if project is None:
        values = words(template, screen)["values"]
        title = shortened(" · ".join(filter(None, (wanted.title, values.get(dialect, dialect), benchmark))))
        # The server refuses to name a model version before there are predictions (`use_prefill`).
        mine = connection.post("/api/projects", {**settings, "title": title, "model_version": ""})
        # Another push may have made it at once, and a busy server makes one twice: all go on with the first.
        made, *more = sorted(
            (row for other, row in _listed(connection) if other == name), key=lambda row: row["id"]
        )
        project = Project(
            connection, made["id"], name, wanted, overlap, settings["description"], False, _origin(made)
        )
        for row in more:
            # Where two projects are deleted at one moment, the server keeps no books until it is started anew
            # (new members have no token, answers aren't counted): a person may delete this one, no push does.
            if not replace(project, id=row["id"]).task_count():
                connection.patch(f"/api/projects/{row['id']}", {"title": UNUSED, "description": ""})
        if made["id"] == mine["id"]:
            _views(project)
    elif project.edited:
        raise UsageError(
            f"the labelling config of project {project.id} at {connection.url} was edited by hand; "
            "undo the edit there; or pull, delete the project there, and push again"
        )
    else:
        if project.overlap == overlap:
            del settings[
                "maximum_annotations"
            ]  # setting it anew would undo the raised overlap of disputed tasks
        if project.marker != settings["description"] or project.overlap != overlap:
            connection.patch(f"/api/projects/{project.id}", settings)
        project = replace(
            project, labelling=wanted, overlap=overlap, marker=settings["description"], edited=False
        )
    return project


def shortened(title: str) -> str:
    """A title of at most fifty characters, which is what the server takes; what was cut shows as `…`."""
    return title if len(title) <= _TITLE else f"{title[: _TITLE - 1].rstrip(' ·_-')}…"


def use_prefill(project: Project) -> None:
    """Makes the text boxes open filled; the server refuses it while the project has no predictions."""
    project.connection.patch(f"/api/projects/{project.id}", {"model_version": PREFILL})


def config_digest(config: str) -> str:
    """Digest of a labelling config that spaces, line ends and attribute order don't change."""
    try:
        return sha256(ET.canonicalize(config, strip_text=True).encode())[:16]
    except ET.ParseError:
        return "unreadable"


def _views(project: Project) -> None:
    """Two tabs: the queue, most urgent first, and what is finished; markup columns hidden."""
    finished = {
        "filter": "filter:tasks:total_annotations",
        "operator": "greater_or_equal",
        "type": "Number",
        "value": project.overlap,
    }
    for title, filters in (("Queue", []), ("Finished", [finished])):
        project.connection.post("/api/dm/views", {"project": project.id, "data": _view(title, filters)})


def show_disputed(project: Project, samples: Sequence[str]) -> None:
    """Keeps the tab Disputed: the tasks of the items on which people disagree; none where they don't."""
    named = "|".join(map(re.escape, samples)) or "-"  # no sample is called that
    # The server takes more operators than its page: with one that this does not know, it never opens again.
    of_samples = {
        "filter": "filter:tasks:data.sample_id",
        "operator": "regex",
        "type": "String",
        "value": f"^({named})$",
    }
    data = _view(DISPUTED, [of_samples])
    tabs = project.connection.get("/api/dm/views", project=project.id)
    known = next((tab for tab in tabs if tab["data"].get("title") == DISPUTED), None)
    if known is None:
        project.connection.post("/api/dm/views", {"project": project.id, "data": data})
    elif known["data"].get("filters") != data["filters"]:
        project.connection.patch(f"/api/dm/views/{known['id']}", {"project": project.id, "data": data})


def _view(title: str, filters: list[dict[str, Any]]) -> dict[str, Any]:
    hidden = [f"tasks:data.{name}" for name in _MARKUP]
    return {
        "title": title,
        "type": "list",
        "target": "tasks",
        "ordering": ["-tasks:data.priority"],
        "hiddenColumns": {"explore": hidden, "labeling": hidden},
        "filters": {"conjunction": "and", "items": filters},
    }


_MARKUP = (
    "meta_html",
    "item_html",
    "audit_html",
    "provenance",
    "form",
    "data_digest",
    "content_hash",
    "own_question",
    "priority",
)


def _origin(row: dict[str, Any]) -> str:
    return sha256(f"{row['id']} {row['created_at']}".encode())[:12]


def _name(row: dict[str, Any]) -> str:
    found = _MARKER.match(row.get("description") or "")
    return found["name"] if found else ""


def _held(row: dict[str, Any]) -> Held | None:
    data = row["data"]
    if not isinstance(data, dict) or not data.get("sample_id") or not data.get("content_hash"):
        return None
    return Held(
        task=row["id"],
        sample=str(data["sample_id"]),
        content_hash=str(data["content_hash"]),
        annotations=max(row["total_annotations"], len(row["annotators"]) - row["cancelled_annotations"]),
        overlap=row["overlap"],
        labeled=row["is_labeled"],
        touched=bool(row.get("updated_by")),
    )
