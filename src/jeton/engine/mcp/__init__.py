"""MCP: pins of tools, and the engine as an MCP server."""
