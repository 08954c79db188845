"""The server of `kinetoscope mcp`: read-only tools for assistants, over traces in given folders."""
