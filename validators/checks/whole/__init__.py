"""Checks that speak of a whole set."""
