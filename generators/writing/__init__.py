"""Parts of items that a model writes, and what is done with its replies."""
