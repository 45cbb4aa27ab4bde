"""Verbs that read a store."""
