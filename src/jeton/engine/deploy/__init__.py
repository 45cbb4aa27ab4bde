"""Deployment of definitions, and what is checked first against what is there."""
