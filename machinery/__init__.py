"""The machinery of the pipeline; it knows no source, check or task by name."""
