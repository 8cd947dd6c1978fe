"""Tables of results: figures with their uncertainty, and nothing that the scores don't show."""

from mihakk.evaluation.table.results import Results, results
from mihakk.evaluation.table.scores import load_scores, sliced

__all__ = ["Results", "load_scores", "results", "sliced"]
