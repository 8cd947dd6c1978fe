"""What a suite measured, in forms that others read: a data set of outputs, result files, records."""
