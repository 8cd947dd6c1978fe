"""Tasks made from poems, one file each."""
