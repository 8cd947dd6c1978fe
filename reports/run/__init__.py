"""The run's report: one page that opens offline."""
