"""The leaderboard: a folder of static pages in three languages that opens from disk."""
