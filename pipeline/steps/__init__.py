"""One module per stage: how its shards are read, worked on and written."""
