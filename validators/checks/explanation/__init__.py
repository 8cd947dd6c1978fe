"""Checks of explanations: of idioms, of verses one by one, and of whole poems."""
