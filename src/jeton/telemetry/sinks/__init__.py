"""Sinks: webhooks out. Each reads the line of positions from where it was, and sends events to an address."""
