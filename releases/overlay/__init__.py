"""Overlays: the errata of a published benchmark as a patch against its own files, which it does not hold.

from mihakk.releases.overlay import load

rows = load("exam-overlay")["test"]  # the benchmark is fetched, compared and patched

"""

from mihakk.releases.overlay.patching import load

__all__ = ["load"]
