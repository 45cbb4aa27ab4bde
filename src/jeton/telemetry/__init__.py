"""Journals as OpenTelemetry spans."""
