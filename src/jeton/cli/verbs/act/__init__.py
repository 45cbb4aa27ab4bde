"""Verbs that start, stop or tell runs something."""
