"""Token graphs: start, routing, fan-out, fan-in, merge and completion."""
