"""Verbs that start runs, send them something or stop them."""
