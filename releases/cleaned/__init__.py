"""The cleaned release of an outside benchmark: its own files, errata, card, changelog and gates."""
