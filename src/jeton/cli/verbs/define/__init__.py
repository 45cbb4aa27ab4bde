"""Verbs about definitions."""
