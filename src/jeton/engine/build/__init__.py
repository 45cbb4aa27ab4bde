"""Workflows and flows built in Python, and sources that can be deployed."""
