"""What annotators see, and their answers read back."""
