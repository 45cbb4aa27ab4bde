"""Tables that are written with a commit and read by queries."""
