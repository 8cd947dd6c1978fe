"""Benchmarks of Arabic and Persian poems, idioms and proverbs: built, audited, released and used to measure systems."""
