"""Checks of the text itself, the same for items and records."""
