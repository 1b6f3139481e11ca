"""The least of three protocols that a test needs: PostgreSQL's, MySQL's and RESP."""
import socket
import struct


def connected(port):
    return socket.create_connection(("localhost", port), 5)


def exactly(stream, n):
    data = stream.read(n)
    if len(data) < n:
        raise OSError("the service ended the connection")
    return data


class Postgres:
    """One connection that speaks simple queries."""

    def __init__(self):
        self.sock = connected(5432)
        self.stream = self.sock.makefile("rb")
        body = struct.pack("!i", 196608) + b"user\0app\0database\0app\0\0"
        self.sock.sendall(struct.pack("!i", len(body) + 4) + body)
        self.answer()

    def answer(self):
        rows, error = [], None
        while True:
            kind = exactly(self.stream, 1)
            body = exactly(self.stream, struct.unpack("!i", exactly(self.stream, 4))[0] - 4)
            if kind == b"E":
                error = next((f[1:].decode() for f in body.split(b"\0") if f[:1] == b"M"), "failed")
            elif kind == b"D":
                rows.append(self.row(body))
            elif kind == b"Z":
                if error:
                    raise ValueError(error)
                return rows

    @staticmethod
    def row(body):
        out, at = [], 2
        for _ in range(struct.unpack("!h", body[:2])[0]):
            size = struct.unpack("!i", body[at:at + 4])[0]
            at += 4
            out.append(None if size < 0 else body[at:at + size].decode())
            at += max(size, 0)
        return out

    def query(self, sql):
        text = sql.encode() + b"\0"
        self.sock.sendall(b"Q" + struct.pack("!i", len(text) + 4) + text)
        return self.answer()


class MariaDB:
    """One connection that speaks COM_QUERY."""

    def __init__(self):
        self.sock = connected(3306)
        self.stream = self.sock.makefile("rb")
        self.packet()
        # CLIENT_LONG_PASSWORD, CLIENT_PROTOCOL_41, CLIENT_SECURE_CONNECTION, CLIENT_CONNECT_WITH_DB
        flags = 1 | 1 << 9 | 1 << 15 | 1 << 3
        self.send(1, struct.pack("<IIB23x", flags, 1 << 24, 33) + b"app\0\0app\0")
        answer = self.packet()
        if answer[:1] == b"\xfe":
            self.send(3, b"")
            answer = self.packet()
        if answer[:1] == b"\xff":
            raise ValueError(answer[9:].decode())

    def packet(self):
        head = exactly(self.stream, 4)
        return exactly(self.stream, int.from_bytes(head[:3], "little"))

    def send(self, number, body):
        self.sock.sendall(len(body).to_bytes(3, "little") + bytes([number]) + body)

    def query(self, sql):
        self.send(0, b"\x03" + sql.encode())
        first = self.packet()
        if first[:1] == b"\xff":
            raise ValueError(first[9:].decode())
        if first[:1] == b"\0":
            return []
        while self.packet()[:1] != b"\xfe":
            pass
        rows = []
        while True:
            body = self.packet()
            if body[:1] == b"\xfe" and len(body) < 9:
                return rows
            rows.append(self.row(body))

    @staticmethod
    def row(body):
        out, at = [], 0
        while at < len(body):
            size = body[at]
            at += 1
            if size == 0xfb:
                out.append(None)
                continue
            out.append(body[at:at + size].decode())
            at += size
        return out


class Redis:
    """One connection that speaks RESP2."""

    def __init__(self):
        self.sock = connected(6379)
        self.stream = self.sock.makefile("rb")

    def query(self, *words):
        out = b"*%d\r\n" % len(words)
        for w in words:
            w = str(w).encode()
            out += b"$%d\r\n%s\r\n" % (len(w), w)
        self.sock.sendall(out)
        return self.value()

    def value(self):
        line = self.stream.readline()
        kind, rest = line[:1], line[1:].strip()
        if kind == b"-":
            raise ValueError(rest.decode())
        if kind == b"$":
            if int(rest) < 0:
                return None
            return exactly(self.stream, int(rest) + 2)[:-2].decode()
        if kind == b"*":
            return [self.value() for _ in range(int(rest))]
        return rest.decode()
