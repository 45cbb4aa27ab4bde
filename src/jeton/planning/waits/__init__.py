"""What a token can wait for: gates, signals, timers, retries, deadlines and calls to other runs."""
