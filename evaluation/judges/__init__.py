"""Judges: models that score replies by a rubric, and how far people agree with them."""
