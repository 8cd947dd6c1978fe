"""A labelling server of one project, without a network: what it exports is written by the test."""

from __future__ import annotations

from typing import Any

import httpx

from mihakk.annotation.label_studio.connection import Connection
from mihakk.annotation.label_studio.project import config_digest
from mihakk.annotation.screens.labelling import labelling


class ExportServer(Connection):
    """A connection whose answers are written here, but for the export."""

    def __init__(self) -> None:
        self.url, self.export, self.name = "http://127.0.0.1:9", b"[]", ""

    def close(self) -> None:
        """Nothing is open."""

    def _send(self, method: str, path: str, **_: Any) -> httpx.Response:
        if path.endswith("/export"):
            return httpx.Response(200, content=self.export)
        told = labelling("quality_review", "ar")
        marker = f"mihakk:{self.name}:quality_review:ar config:{config_digest(told.config)}"
        project = {
            "id": 1,
            "created_at": "2026-01-01T00:00:00Z",
            "description": marker,
            "label_config": told.config,
            "maximum_annotations": 2,
        }
        body: Any = {
            "/api/users": [{"id": n, "email": f"person{n}@example.org"} for n in (1, 2)],
            "/api/projects": {"results": [project], "next": None},
            "/api/projects/1": project,
            "/api/tasks": {"total": 0, "tasks": []},
            "/api/dm/views": [],
        }.get(path.rstrip("/"), {})
        return httpx.Response(200, json=body if method == "GET" else {"id": 1})
