"""What watches a server: numbers for Prometheus, and its log."""
