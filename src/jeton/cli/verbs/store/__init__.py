"""Verbs that work on a whole store."""
