"""Verbs that read."""
