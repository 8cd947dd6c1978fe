"""The jobs a Prefect server schedules: thin flows over the functions behind the commands."""
