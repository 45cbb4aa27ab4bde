"""Calls of language models: what they share, and one client per provider."""
