"""Definitions compiled for planning, once per version."""
