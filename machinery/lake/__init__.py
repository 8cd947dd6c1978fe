"""The lake: one folder per benchmark, one folder per stage, whole parts or none.

```
<lake>/<benchmark>/<stage>/<table>/part-<shard>.parquet   rows, one table per kind of record
                          /rejected/part-<shard>.parquet  what this shard did not pass on
                          /shards/<shard>.json            digests and counts, there only once parts are whole
                          /rejected.parquet               all rejections, written when the stage is done
                          /manifest.json                  inputs, config, code, counts, seconds
```
"""

from mihakk.machinery.lake.stage import Lake, ShardOutput, Stage

__all__ = ["Lake", "ShardOutput", "Stage"]
