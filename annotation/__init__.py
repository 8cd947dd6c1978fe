"""People's part of the pipeline: what they are shown, what they decide, and what their decisions come to."""
