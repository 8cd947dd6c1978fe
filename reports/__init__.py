"""What people look at: the report of a run, the dashboard, the page about an external audit."""
