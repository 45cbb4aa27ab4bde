"""Checks of token graphs."""
