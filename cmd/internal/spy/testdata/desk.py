"""A server on the official Python SDK: desk.py stdio|sse|streamable-http; it listens on $PORT."""

import os
import sys

from mcp.server.mcpserver import MCPServer

server = MCPServer("desk")


@server.tool()
def echo(message: str) -> str:
    """Say it again."""
    return message


@server.tool(name="get-sum")
def total(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@server.prompt()
def greeting(name: str) -> str:
    """Greet somebody."""
    return f"Greet {name}."


kind = sys.argv[1]
server.run(kind, **({} if kind == "stdio" else {"port": int(os.environ["PORT"])}))
