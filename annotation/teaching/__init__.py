"""Teaching: known answers, calibration rounds, versions of guidelines, questions of annotators."""
