"""Releases: assembling, splitting, versioning, comparing, publishing and loading them."""
