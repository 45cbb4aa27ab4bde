"""What survives a crash of a simulated host: bytes and rows, in memory."""
