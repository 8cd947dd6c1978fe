"""A small Hub in this process: the requests of the real clients, answered as the real Hub answers them.

Commits, tags, LFS, stale parents (412), error codes and byte ranges are real; there is no Xet. Faults can be
ordered: die at the n-th request before or after doing it, answer a status, hand out damaged bytes.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import unquote, urlsplit

from tests.releases.hub_state import Repository, blob_id
from tests.servers import answering


class Died(Exception):
    """The server's process is gone: the connection closes without an answer."""


class HubServer:
    """The server and everything a test may ask or order of it."""

    def __init__(self) -> None:
        self.repositories: dict[str, Repository] = {}
        self.objects: dict[str, bytes] = {}
        self.requests: list[str] = []
        self.token = ""
        """When set, writing needs it and so does reading what is private."""
        self.die_at: tuple[int, str] | None = None
        """(number of the request, `before` or `after` it is done): from then on the server is dead."""
        self.statuses: list[tuple[str, int]] = []
        """(pattern, status): the next request that matches is answered so, once each."""
        self.damage: str = ""
        """Pattern of resolved paths that are handed out with one byte changed."""
        self.before_commit: Callable[[], None] | None = None
        """Called once, before the next commit is taken: what somebody else does meanwhile."""
        self.lock = threading.RLock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), type("OwnHandler", (Handler,), {"hub": self}))
        self._server.daemon_threads = True
        self.endpoint = f"http://127.0.0.1:{self._server.server_port}"

    @contextmanager
    def running(self) -> Iterator[HubServer]:
        """Serve while the context lasts."""
        with answering(self._server):
            yield self

    def revive(self) -> None:
        """Answer again, and count requests from nought."""
        self.die_at = None
        self.requests.clear()

    def note(self, request: str) -> bool:
        """Count a request; True when the server is to die after doing it, `Died` when it is dead already."""
        with self.lock:
            self.requests.append(request)
            number = len(self.requests)
            if self.die_at is None or number < self.die_at[0]:
                return False
            if number > self.die_at[0] or self.die_at[1] == "before":
                raise Died
            return True

    def ordered_status(self, request: str) -> int | None:
        """The status ordered for a request, used up."""
        with self.lock:
            for order in self.statuses:
                if re.search(order[0], request):
                    self.statuses.remove(order)
                    return order[1]
        return None


@dataclass
class Answer:
    """What goes back."""

    status: int = 200
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)


def missing(code: str) -> Answer:
    """404 as the Hub gives it."""
    return Answer(404, {"error": code}, {"X-Error-Code": code, "X-Error-Message": code})


_REPOSITORY = r"(?P<repository>[\w.-]+/[\w.-]+)"
_ROUTES = [
    (method, re.compile(pattern.replace("{R}", _REPOSITORY) + r"/?\Z"), name)
    for method, pattern, name in (
        ("POST", r"/api/repos/create", "create"),
        ("POST", r"/api/validate-yaml", "validate"),
        ("POST", r"/api/datasets/{R}/preupload/(?P<revision>.+)", "preupload"),
        ("POST", r"/datasets/{R}\.git/info/lfs/objects/batch", "batch"),
        ("PUT", r"/lfs/(?P<oid>[0-9a-f]{64})", "store"),
        ("POST", r"/lfs/verify", "verify"),
        ("POST", r"/api/datasets/{R}/commit/(?P<revision>.+)", "commit"),
        ("POST", r"/api/datasets/{R}/tag/(?P<revision>.+)", "tag"),
        ("GET", r"/api/datasets/{R}/refs", "refs"),
        ("GET", r"/api/datasets/{R}(?:/revision/(?P<revision>[^/]+))?", "info"),
        ("GET", r"/api/datasets/{R}/tree/(?P<revision>[^/]+)(?:/(?P<path>.+))?", "tree"),
        ("POST", r"/api/datasets/{R}/paths-info/(?P<revision>[^/]+)", "paths"),
        ("GET", r"/datasets/{R}/resolve/(?P<revision>[^/]+)/(?P<path>.+)", "resolve"),
    )
]


class Routes:
    """One method per route of the Hub's API."""

    def __init__(self, hub: HubServer, body: bytes, query: str) -> None:
        self.hub = hub
        self.body = body
        self.query = query

    @property
    def json(self) -> Any:
        """The request's body."""
        return json.loads(self.body or b"{}")

    def create(self) -> Answer:
        name = f"{self.json.get('organization') or 'someone'}/{self.json['name']}"
        if name in self.hub.repositories:
            url = f"{self.hub.endpoint}/datasets/{name}"
            return Answer(409, {"error": "You already created this dataset repo", "url": url})
        new = Repository(private=self.json.get("visibility") == "private" or bool(self.json.get("private")))
        new.commit({".gitattributes": b"*.parquet filter=lfs diff=lfs merge=lfs -text\n"})
        self.hub.repositories[name] = new
        return Answer(200, {"url": f"{self.hub.endpoint}/datasets/{name}", "name": name})

    def validate(self) -> Answer:
        return Answer(200, {"errors": [], "warnings": []})

    def preupload(self, repository: Repository, revision: str) -> Answer:
        tree = repository.commits[repository.main]
        files = []
        for one in self.json["files"]:
            oid = blob_id(tree[one["path"]]) if one["path"] in tree else None
            mode = "lfs" if one["path"].endswith(".parquet") else "regular"
            files.append({"path": one["path"], "uploadMode": mode, "shouldIgnore": False, "oid": oid})
        return Answer(200, {"files": files, "commitOid": repository.main})

    def batch(self, repository: Repository) -> Answer:
        objects = []
        for one in self.json["objects"]:
            entry: dict[str, Any] = {"oid": one["oid"], "size": one["size"]}
            if one["oid"] not in self.hub.objects:
                upload = {"href": f"{self.hub.endpoint}/lfs/{one['oid']}", "header": {}}
                verify = {"href": f"{self.hub.endpoint}/lfs/verify", "header": {}}
                entry["actions"] = {"upload": upload, "verify": verify}
            objects.append(entry)
        return Answer(200, {"transfer": "basic", "objects": objects})

    def store(self, oid: str) -> Answer:
        if hashlib.sha256(self.body).hexdigest() != oid:
            return Answer(400, {"error": "bytes do not match their oid"})
        self.hub.objects[oid] = self.body
        return Answer(200)

    def verify(self) -> Answer:
        stored = self.hub.objects.get(self.json["oid"])
        return (
            Answer(200, {}) if stored is not None and len(stored) == self.json["size"] else missing("Object")
        )

    def commit(self, repository: Repository, revision: str, name: str) -> Answer:
        meanwhile, self.hub.before_commit = self.hub.before_commit, None
        if meanwhile is not None:
            meanwhile()
        lines = [json.loads(line) for line in self.body.splitlines()]
        with self.hub.lock:
            tree = dict(repository.commits[repository.main])
            for line in lines:
                value = line["value"]
                match line["key"]:
                    case "header":
                        if value.get("parentCommit", repository.main) != repository.main:
                            return Answer(
                                412, {"error": "A commit has happened since. Please refresh and try again."}
                            )
                    case "file":
                        tree[value["path"]] = base64.b64decode(value["content"])
                    case "lfsFile":
                        if value["oid"] not in self.hub.objects:
                            return Answer(400, {"error": f"LFS object {value['oid']} was never uploaded"})
                        tree[value["path"]] = self.hub.objects[value["oid"]]
                    case "deletedFile":
                        if tree.pop(value["path"], None) is None:
                            return missing("EntryNotFound")
            sha = repository.commit(tree)
        return Answer(
            200, {"commitOid": sha, "commitUrl": f"{self.hub.endpoint}/datasets/{name}/commit/{sha}"}
        )

    def tag(self, repository: Repository, revision: str) -> Answer:
        sha = repository.resolve(revision)
        if sha is None:
            return missing("RevisionNotFound")
        if self.json["tag"] in repository.tags:
            return Answer(409, {"error": f"Tag reference exists already: {self.json['tag']}"})
        repository.tags[self.json["tag"]] = sha
        return Answer(200, {})

    def refs(self, repository: Repository) -> Answer:
        tags = [
            {"name": name, "ref": f"refs/tags/{name}", "targetCommit": sha}
            for name, sha in repository.tags.items()
        ]
        main = {"name": "main", "ref": "refs/heads/main", "targetCommit": repository.main}
        return Answer(200, {"branches": [main], "converts": [], "tags": tags})

    def info(self, repository: Repository, revision: str | None, name: str) -> Answer:
        sha = repository.resolve(revision or "main")
        if sha is None:
            return missing("RevisionNotFound")
        siblings = [{"rfilename": path} for path in sorted(repository.commits[sha])]
        body = {
            "_id": "0",
            "id": name,
            "sha": sha,
            "private": repository.private,
            "disabled": False,
            "gated": False,
        }
        more = {
            "downloads": 0,
            "likes": 0,
            "tags": [],
            "siblings": siblings,
            "lastModified": "2026-01-01T00:00:00.000Z",
        }
        return Answer(200, body | more)

    def tree(self, repository: Repository, revision: str, path: str | None) -> Answer:
        sha = repository.resolve(revision)
        if sha is None:
            return missing("RevisionNotFound")
        files, below = repository.commits[sha], f"{path}/" if path else ""
        entries: dict[str, dict[str, Any]] = {}
        for name, data in files.items():
            if not name.startswith(below):
                continue
            first, slash, _ = name[len(below) :].partition("/")
            if slash and not re.search(r"recursive=(true|1)", self.query, re.IGNORECASE):
                entries[below + first] = {
                    "type": "directory",
                    "path": below + first,
                    "oid": "0" * 40,
                    "size": 0,
                }
            else:
                entries[name] = self._file(name, data)
        if below and not entries:
            return missing("EntryNotFound")
        return Answer(200, list(entries.values()))

    def paths(self, repository: Repository, revision: str) -> Answer:
        sha = repository.resolve(revision)
        if sha is None:
            return missing("RevisionNotFound")
        tree = repository.commits[sha]
        asked = (
            self.json["paths"]
            if self.body.startswith(b"{")
            else re.findall(r"paths=([^&]+)", unquote(self.body.decode()))
        )
        found = [self._file(path, tree[path]) for path in asked if path in tree]
        found += [
            {"type": "directory", "path": path, "oid": "0" * 40, "size": 0}
            for path in asked
            if any(name.startswith(f"{path}/") for name in tree)
        ]
        return Answer(200, found)

    @staticmethod
    def _file(path: str, data: bytes) -> dict[str, Any]:
        entry: dict[str, Any] = {"type": "file", "path": path, "oid": blob_id(data), "size": len(data)}
        if path.endswith(".parquet"):
            entry["lfs"] = {"oid": hashlib.sha256(data).hexdigest(), "size": len(data), "pointerSize": 130}
        return entry

    def resolve(self, repository: Repository, revision: str, path: str) -> Answer:
        sha = repository.resolve(revision)
        if sha is None:
            return missing("RevisionNotFound")
        data = repository.commits[sha].get(path)
        if data is None:
            answer = missing("EntryNotFound")
            answer.headers["X-Repo-Commit"] = sha
            return answer
        headers = {"X-Repo-Commit": sha, "ETag": f'"{blob_id(data)}"', "Accept-Ranges": "bytes"}
        if path.endswith(".parquet"):
            etag = f'"{hashlib.sha256(data).hexdigest()}"'
            headers |= {"X-Linked-Size": str(len(data)), "X-Linked-Etag": etag, "ETag": etag}
        if self.hub.damage and re.search(self.hub.damage, path):
            middle = len(data) // 2
            data = data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]
        return Answer(200, data, headers)


class Handler(BaseHTTPRequestHandler):
    """One connection."""

    hub: HubServer
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *arguments: Any) -> None:
        pass

    def _serve(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        parts = urlsplit(self.path)
        method = "GET" if self.command == "HEAD" else self.command
        request = f"{self.command} {unquote(parts.path)}"
        try:
            last = self.hub.note(request)
            answer = self._answer(method, unquote(parts.path), Routes(self.hub, body, parts.query), request)
            if last:
                raise Died
        except Died:
            self.close_connection = True
            return
        self._send(answer)

    def _answer(self, method: str, path: str, routes: Routes, request: str) -> Answer:
        status = self.hub.ordered_status(request)
        if status is not None:
            return Answer(status, {"error": f"ordered {status}"})
        for route_method, pattern, name in _ROUTES:
            match = pattern.fullmatch(path) if route_method == method else None
            if match is None:
                continue
            values = match.groupdict()
            wanted = values.pop("repository", None)
            authorised = (
                not self.hub.token
                or name == "store"
                or self.headers.get("Authorization") == f"Bearer {self.hub.token}"
            )
            if not authorised and (
                method != "GET" or (wanted in self.hub.repositories and self.hub.repositories[wanted].private)
            ):
                return Answer(401, {"error": "Invalid username or password."})
            if wanted is None:
                return getattr(routes, name)(**values)
            if wanted not in self.hub.repositories:
                return missing("RepoNotFound")
            if name in ("info", "commit"):
                values["name"] = wanted
            return getattr(routes, name)(self.hub.repositories[wanted], **values)
        return missing("RouteNotFound")

    def _send(self, answer: Answer) -> None:
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        status, headers = answer.status, dict(answer.headers)
        window = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if window and status == 200:
            start, end = int(window[1]), min(int(window[2] or len(body) - 1), len(body) - 1)
            headers["Content-Range"] = f"bytes {start}-{end}/{len(body)}"
            body, status = body[start : end + 1], 206
        self.send_response(status)
        if not isinstance(answer.body, bytes):
            headers["Content-Type"] = "application/json"
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_POST = do_PUT = _serve  # noqa: N815 (http.server's names)
