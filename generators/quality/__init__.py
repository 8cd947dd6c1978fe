"""How good generated items are: baselines, distances, tables for people to rate."""
