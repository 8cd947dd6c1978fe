"""Servers that tests of several folders start, and free ports for them."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

from mihakk.machinery.ports import free_port

LOOPBACK = httpx.Client(verify=False, timeout=90, limits=httpx.Limits(max_keepalive_connections=0))
"""For calls over loopback, each on a connection of its own: a client a call reads every authority's certificate,
for 45 ms of processor."""


def of_all_workers(folders: pytest.TempPathFactory) -> Path:
    """Folder of this run of the tests, the same in each of its workers; lock what is made in it."""
    own = folders.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@contextmanager
def answering(server: ThreadingHTTPServer) -> Iterator[None]:
    """The server answers, from a thread of its own, while the context lasts."""
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def serving_olah(datasets: Path, folder: Path) -> Iterator[str]:
    """Endpoint of olah, an independent server of the Hub's API, over local git repositories.

    Args:
        datasets: `datasets/<owner>/<name>` lie below it; olah reads no other layout.
        folder: Where it keeps what it makes.
    """
    program = os.environ.get("MIHAKK_OLAH") or shutil.which("olah-cli")
    if program is None:
        pytest.skip("needs the package olah in an environment of its own: set MIHAKK_OLAH to its olah-cli")
    port = free_port()
    config = folder / "olah.toml"
    config.write_text(
        f'[basic]\nhost = "127.0.0.1"\nport = {port}\nrepos-path = "{folder}/repos"\n'
        f'mirrors-path = ["{datasets}"]\n[accessibility]\noffline = true\n'
    )
    server = subprocess.Popen(
        [program, "-c", str(config)], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        _until_it_answers(server, f"http://127.0.0.1:{port}/", 120)
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def _until_it_answers(server: subprocess.Popen[bytes], url: str, patience: float) -> None:
    """Returns once the URL answers, whatever it says."""
    deadline = time.monotonic() + patience
    while True:
        assert server.poll() is None, f"{server.args!r} did not start"
        try:
            urllib.request.urlopen(url, timeout=5).close()
        except urllib.error.HTTPError:
            return
        except OSError:
            assert time.monotonic() < deadline, f"{url} did not answer in {patience:g} s"
            time.sleep(0.5)
        else:
            return
