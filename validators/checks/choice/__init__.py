"""Checks of options and golds."""
