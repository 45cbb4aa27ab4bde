"""Checks of flow graphs."""
