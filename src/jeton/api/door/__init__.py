"""What every request, socket and asset passes before anything else: host, origin, key, scope, rate, size."""
