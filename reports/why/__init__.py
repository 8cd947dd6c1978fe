"""Why an item, record or source row is where it is: its way through all runs, as a person asks for it."""
