"""Threads and processes that carry out work."""
