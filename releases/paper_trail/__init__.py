"""What a release tells of its items' way: verdicts, scores, findings, errata, reported defects."""
