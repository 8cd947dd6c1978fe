"""Files of results that other programs wrote: what each format is, and what systems answered there."""
