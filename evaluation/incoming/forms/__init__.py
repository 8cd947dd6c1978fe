"""Files of results as other programs write them, one module a format."""
