#!/usr/bin/env python3
"""loopback-echo: echo services for trying out clients. They listen on 127.0.0.1 only, and end with this server."""
import collections
import selectors
import socket
import sys
import threading
import time

from mcp import Server

sys.stdout.reconfigure(encoding="utf-8", errors="backslashreplace")
HOST, MOST = "127.0.0.1", 8


class Echo(threading.Thread):
    """One listener with its connections, on one thread."""

    def __init__(self, protocol, port, upper):
        super().__init__(daemon=True)
        self.protocol, self.upper, self.bytes, self.peers = protocol, upper, 0, 0
        self.log = collections.deque(maxlen=100)
        self.listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM)
        try:
            if protocol == "tcp":
                self.listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self.listener.bind((HOST, port))
            if protocol == "tcp":
                self.listener.listen(8)
        except OSError:
            self.listener.close()
            raise
        self.listener.setblocking(False)
        self.port = self.listener.getsockname()[1]
        self.woken, self.waker = socket.socketpair()
        self.selector = selectors.DefaultSelector()
        self.selector.register(self.listener, selectors.EVENT_READ, self.accept if protocol == "tcp" else self.datagram)
        self.selector.register(self.woken, selectors.EVENT_READ, None)

    def answer(self, data):
        self.bytes += len(data)
        self.log.append({"time": time.strftime("%H:%M:%S"), "bytes": len(data), "text": data[:200].decode("utf-8", "replace")})
        return data.upper() if self.upper else data

    def accept(self, listener):
        connection, _ = listener.accept()
        connection.settimeout(2)
        self.peers += 1
        if len(self.selector.get_map()) > 34:
            connection.close()
        else:
            self.selector.register(connection, selectors.EVENT_READ, self.stream)

    def stream(self, connection):
        try:
            data = connection.recv(65536)
            if data:
                connection.sendall(self.answer(data))
                return
        except OSError:
            pass
        self.selector.unregister(connection)
        connection.close()

    def datagram(self, listener):
        data, peer = listener.recvfrom(65536)
        self.peers += 1
        listener.sendto(self.answer(data), peer)

    def run(self):
        while True:
            for key, _ in self.selector.select():
                if key.data is None:
                    for entry in list(self.selector.get_map().values()):
                        entry.fileobj.close()
                    self.selector.close()
                    return
                try:
                    key.data(key.fileobj)
                except OSError:
                    continue

    def stop(self):
        self.waker.send(b"x")
        self.join(3)
        self.waker.close()


echoes = {}
PROTOCOL = {"type": "string", "enum": ["tcp", "udp"]}
PORT = {"type": "integer", "minimum": 1024, "maximum": 65535, "description": "Port of a running echo service"}
server = Server("loopback-echo", "1.0.0", "All sockets are on 127.0.0.1. Nothing is written to disk. The services end with this server.")


def running(protocol, port):
    if (protocol, port) not in echoes:
        raise ValueError("no %s echo service of this server listens on port %d" % (protocol, port))
    return echoes[protocol, port]


@server.tool("start_echo", "Starts an echo service that listens on 127.0.0.1, and returns its port. It sends back what it receives, in capital letters if wanted, until stop_echo or the end of this server.",
             {"protocol": PROTOCOL}, {"port": {"type": "integer", "minimum": 0, "maximum": 65535, "description": "0 or none for any free port", "default": 0}, "upper": {"type": "boolean", "default": False}},
             annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False})
def start_echo(protocol, port=0, upper=False):
    if protocol not in ("tcp", "udp") or port != 0 and not 1024 <= port <= 65535:
        raise ValueError("protocol is tcp or udp, and port is 0 or from 1024 to 65535")
    if len(echoes) >= MOST:
        raise ValueError("at most %d services at a time; stop one first" % MOST)
    echo = Echo(protocol, port, upper)
    echoes[protocol, echo.port] = echo
    echo.start()
    return "Listening on %s %s port %d." % (protocol, HOST, echo.port)


@server.tool("list_echoes", "Lists the echo services that run, with their ports and how much they echoed.", annotations={"readOnlyHint": True, "openWorldHint": False})
def list_echoes():
    return [{"protocol": e.protocol, "port": e.port, "peers": e.peers, "bytes": e.bytes} for e in echoes.values()]


@server.tool("say", "Connects to a running echo service of this server on 127.0.0.1, sends a text and returns the echo and how long it took. Starts a TCP service itself if no port is given.",
             {"text": {"type": "string", "minLength": 1, "maxLength": 8000, "examples": ["hello"]}}, {"protocol": {**PROTOCOL, "default": "tcp"}, "port": PORT}, annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False})
def say(text, protocol="tcp", port=0):
    data = text.encode("utf-8")
    if not 0 < len(data) <= 32000:
        raise ValueError("text has from 1 to 8000 characters")
    if port == 0:
        if not any(kind == protocol for kind, _ in echoes):
            start_echo(protocol)
        port = next(number for kind, number in echoes if kind == protocol)
    running(protocol, port)
    begun = time.perf_counter()
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM if protocol == "tcp" else socket.SOCK_DGRAM) as client:
        client.settimeout(3)
        client.connect((HOST, port))
        client.sendall(data)
        got = b""
        while len(got) < len(data):
            part = client.recv(65536)
            if not part:
                break
            got += part
    return {"port": port, "echo": got.decode("utf-8", "replace"), "milliseconds": round((time.perf_counter() - begun) * 1000, 2)}


@server.tool("echo_log", "Shows the last texts that one echo service received, from memory.", {"protocol": PROTOCOL, "port": PORT}, annotations={"readOnlyHint": True, "openWorldHint": False})
def echo_log(protocol, port):
    return list(running(protocol, port).log)


@server.tool("stop_echo", "Stops one echo service and closes its connections; its log is lost.", {"protocol": PROTOCOL, "port": PORT}, annotations={"readOnlyHint": False, "destructiveHint": True, "openWorldHint": False})
def stop_echo(protocol, port):
    running(protocol, port).stop()
    del echoes[protocol, port]
    return "Stopped the %s echo service on port %d." % (protocol, port)


def end():
    for echo in echoes.values():
        echo.stop()


server.ended = end
server.run()
