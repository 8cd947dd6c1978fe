"""The page and the table of an external audit."""
