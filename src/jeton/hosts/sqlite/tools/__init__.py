"""Backup, verification, export, import and retention of a store."""
