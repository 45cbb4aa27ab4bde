"""Verbs about a whole store."""
