"""Curated records to items: one file per task, the prompts as data, and how good the wrong options are."""
