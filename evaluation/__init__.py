"""Measuring systems: reading their replies, scoring them, and what the scores do and don't show."""
