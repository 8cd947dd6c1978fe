"""The dashboard: facts from lake, runs and Hub, as a live server or one file."""
