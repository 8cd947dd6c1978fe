"""The page and the table about somebody's benchmark."""
