"""The commands of `mihakk`, one module per group; heavy imports wait inside the functions."""
