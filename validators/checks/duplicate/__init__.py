"""Checks that compare an item with the rest of its set."""
