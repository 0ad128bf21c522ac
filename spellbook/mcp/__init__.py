"""The MCP face: agents ask, record suggestions, and decide nothing; every rule is in the services.

Importing `mcp` takes a second or two, so only what serves this face imports the modules of this package.
"""
