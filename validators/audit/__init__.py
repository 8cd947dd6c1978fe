"""Two language models, ten criteria, one verdict."""
