"""Where work runs: the processes of this machine, or a Dask cluster by its address. The work is the same."""
