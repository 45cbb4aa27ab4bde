"""Verbs that work on definitions."""
