"""The writer thread and the rows of a commit."""
