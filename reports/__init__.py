"""Pages and terminal output: the report of a run, the dashboard, the page of an external audit."""
