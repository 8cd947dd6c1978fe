"""Randomness that depends on nothing but its own name."""

from __future__ import annotations

import hashlib
import random


def rng(build_seed: int, identifier: str, purpose: str) -> random.Random:
    """Generator for one purpose of one item; no other item's draws can change it."""
    name = f"{build_seed}\x1f{identifier}\x1f{purpose}".encode()
    return random.Random(int.from_bytes(hashlib.blake2b(name, digest_size=16).digest(), "big"))
