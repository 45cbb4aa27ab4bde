"""Tools of MCP servers: connections, pins and calls. The SDK is imported when a server is first used."""
