"""The run's report: one page that opens offline and says what happened, as it is."""
