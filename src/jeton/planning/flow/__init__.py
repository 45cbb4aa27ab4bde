"""Flow graphs: readiness, skipping, built-in nodes and output."""
