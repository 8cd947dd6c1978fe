"""Checks of what is said about a text."""
