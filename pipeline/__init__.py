"""The pipeline: a build, its eight steps, and the loop that runs them on any engine."""
