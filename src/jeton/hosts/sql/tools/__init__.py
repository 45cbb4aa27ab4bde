"""Retention, export, import and verification, on any SQL database."""
