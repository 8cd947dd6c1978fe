"""The machinery of the pipeline; it knows no source, check or task by name."""

import mihakk.machinery.telemetry  # noqa: F401 # before any library that would send some
