"""Checks of poems as records."""
