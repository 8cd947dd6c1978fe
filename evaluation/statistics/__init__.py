"""What scores show and what they can't: intervals, comparisons, ranks. NumPy, seeded."""
