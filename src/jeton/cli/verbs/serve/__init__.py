"""Verbs of a server."""
