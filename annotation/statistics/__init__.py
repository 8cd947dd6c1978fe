"""What people's decisions say about items, auditors and people."""
