"""One module per stage: how its shards are read, processed and written."""
