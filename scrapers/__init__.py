"""Sources of poems and idioms, one file or folder each."""
