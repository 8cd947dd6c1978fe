"""Checks for answers that stand in the prompt."""
