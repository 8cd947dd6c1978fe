"""What tasks are made of: stems, excerpts, cues, wrong options."""
