"""Queries: the line of positions, runs as they were, and what is asked about them."""
