"""HTTP requests: limits, egress rules, redirects and bodies."""
