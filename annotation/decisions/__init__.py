"""People's decisions: kept, resolved, applied."""
