"""Durable workflows and agents for Python."""
