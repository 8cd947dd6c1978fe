"""Judges: models that score replies by a rubric, and what their word is worth."""
