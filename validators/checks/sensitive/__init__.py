"""Checks for wording that people must see first."""
