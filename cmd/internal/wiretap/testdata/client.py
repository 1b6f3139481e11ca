"""A client of the official Python SDK: client.py stdio|sse|http TARGET...

It prints what each request gave, one JSON value a line.
"""

import asyncio
import os
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client


def transport(kind, target):
    if kind == "stdio":
        return stdio_client(StdioServerParameters(command=target[0], args=target[1:], env=dict(os.environ)))
    return (sse_client if kind == "sse" else streamable_http_client)(target[0])


async def main(kind, target):
    async with transport(kind, target) as streams:
        async with ClientSession(streams[0], streams[1]) as s:
            print((await s.initialize()).model_dump_json())
            for request in (
                lambda: s.list_tools(),
                lambda: s.call_tool("echo", {"message": 'grüße \u2028 "quoted"'}),
                lambda: s.call_tool("get-sum", {"a": 1, "b": 2}),
                lambda: s.call_tool("get-structured-content", {"location": "New York"}),
                lambda: s.call_tool("get-tiny-image", {}),
                lambda: s.list_resources(),
                lambda: s.list_prompts(),
                lambda: s.get_prompt("no-such-prompt"),
            ):
                try:
                    print((await request()).model_dump_json())
                except Exception as e:
                    print(type(e).__name__, e)


asyncio.run(main(sys.argv[1], sys.argv[2:]))
