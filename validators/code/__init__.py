"""Code benchmarks in Arabic: what is wrong in their problems, and what of a refined docstring may differ."""
