"""Untrusted code, run inside bubblewrap: no network, no files, limits, no way to its own verdict."""

from mihakk.machinery.sandbox._bubblewrap import Limits, memory_held_by, require_sandbox
from mihakk.machinery.sandbox._run import Example, Outcome, Status, Trial, run_examples, run_trial, run_trials

__all__ = [
    "Example",
    "Limits",
    "Outcome",
    "Status",
    "Trial",
    "memory_held_by",
    "require_sandbox",
    "run_examples",
    "run_trial",
    "run_trials",
]
