"""Memories of agents in a SQLite file."""
