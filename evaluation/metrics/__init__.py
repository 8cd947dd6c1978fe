"""Figures of merit, one file each, found by their folder."""
