"""The command line, and the jobs that a Prefect server schedules: thin over the other packages."""
