"""What a reply answers, by rules that are versioned, named in every row and never fuzzy."""

from mihakk.evaluation.reading.answer import read_answer, read_strict_tag
from mihakk.evaluation.reading.choice import read_choice
from mihakk.evaluation.reading.likelihood import read_likelihoods
from mihakk.evaluation.reading.read import read, reader_of, status_of
from mihakk.evaluation.reading.reading import READERS, Reading
from mihakk.evaluation.reading.verses import read_verses

__all__ = [
    "READERS",
    "Reading",
    "read",
    "read_answer",
    "read_choice",
    "read_likelihoods",
    "read_strict_tag",
    "read_verses",
    "reader_of",
    "status_of",
]
