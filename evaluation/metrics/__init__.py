"""Metrics of one answer and figures of many, registered by the modules of this folder."""
