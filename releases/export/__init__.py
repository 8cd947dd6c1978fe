"""Files by which evaluation harnesses run a release, shipped inside it."""
