"""A free TCP port of this machine, for servers that a run starts itself."""

from __future__ import annotations

import socket


def free_port() -> int:
    """A port of loopback on which nothing listens now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
