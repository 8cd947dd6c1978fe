"""Tasks made from idioms and proverbs, one file each."""
