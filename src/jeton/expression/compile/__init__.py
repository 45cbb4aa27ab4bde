"""Parsed expressions into Python functions."""
