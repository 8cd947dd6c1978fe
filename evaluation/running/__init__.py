"""Putting the questions of a suite to systems, through Inspect, into stored answers."""
