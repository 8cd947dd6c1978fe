"""Scoring against sealed golds, so that the figures told during a season give no gold away."""
