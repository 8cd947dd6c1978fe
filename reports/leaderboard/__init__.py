"""The leaderboard: a folder of static pages in three languages, opened from disk."""
