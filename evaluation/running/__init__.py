"""Putting the questions of a suite to systems, into stored answers."""
