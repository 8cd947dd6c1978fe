"""Version numbers, what changed between two, and the changelog."""
