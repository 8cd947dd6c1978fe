"""Published benchmarks, read from their authors' own files; none of their text is shipped."""
