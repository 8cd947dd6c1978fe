"""The command line, and the jobs that a Prefect server schedules: thin over the other packages."""

import mihakk.machinery  # noqa: F401 # turns telemetry off before Prefect is imported
