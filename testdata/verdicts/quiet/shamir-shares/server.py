"""shamir-shares: Shamir's secret sharing over GF(256), byte by byte. Nothing is stored, sent or logged."""
import base64
import hashlib
import re
import secrets

from mcp import STRING, Server

EXP, LOG = [0] * 510, [0] * 256
x = 1
for i in range(255):
    EXP[i] = EXP[i + 255] = x
    LOG[x] = i
    x ^= x << 1  # times 3, a generator
    if x > 255:
        x ^= 0x11B

SHARE = re.compile(r"shr1-(\d{1,3})-(\d{1,3})-([A-Z2-7]+)-([0-9a-f]{8})")


def multiply(a, b):
    return EXP[LOG[a] + LOG[b]] if a and b else 0


def divide(a, b):
    return EXP[LOG[a] - LOG[b] + 255] if a else 0


def evaluate(coefficients, at):
    value = 0
    for c in reversed(coefficients):
        value = multiply(value, at) ^ c
    return value


def check(threshold, number, data):
    return hashlib.sha256(b"%d/%d/" % (threshold, number) + data).hexdigest()[:8]


def parse(text):
    match = SHARE.fullmatch(text.strip())
    if not match:
        raise ValueError("a share looks like shr1-THRESHOLD-NUMBER-DATA-CHECK")
    threshold, number = int(match[1]), int(match[2])
    try:
        data = base64.b32decode(match[3] + "=" * (-len(match[3]) % 8))
    except ValueError:
        raise ValueError("share %d is cut off" % number) from None
    if not 0 < number < 256 or check(threshold, number, data) != match[4]:
        raise ValueError("share %d has a typing mistake: its check does not fit" % number)
    return threshold, number, data


server = Server("shamir-shares", version="1.0.2", instructions="A secret that is given to these tools has been seen by the model and the client. Nothing is stored here.")
pure = {"readOnlyHint": True, "openWorldHint": False}


@server.tool("split_secret", "Splits a secret into shares. As many as the threshold give it back; fewer say nothing about it.",
             {"secret": {**STRING, "maxLength": 512}, "shares": {"type": "integer", "minimum": 2, "maximum": 20}, "threshold": {"type": "integer", "minimum": 2, "maximum": 20}}, annotations=pure)
def split_secret(secret, shares, threshold):
    data = secret.encode()
    if not 1 <= len(data) <= 2048 or not 2 <= threshold <= shares <= 20:
        raise ValueError("the secret may not be empty or long, and 2 <= threshold <= shares <= 20")
    polynomials = [[byte, *secrets.token_bytes(threshold - 1)] for byte in data]
    lines = []
    for number in range(1, shares + 1):
        part = bytes(evaluate(p, number) for p in polynomials)
        lines.append("shr1-%d-%d-%s-%s" % (threshold, number, base64.b32encode(part).decode().rstrip("="), check(threshold, number, part)))
    return "\n".join(lines)


@server.tool("combine_shares", "Gives a secret back from its shares.", {"shares": {"type": "array", "items": STRING, "minItems": 2}}, annotations=pure)
def combine_shares(shares):
    parsed = {}
    for text in shares[:20]:
        threshold, number, data = parse(str(text))
        parsed[number] = (threshold, data)
    if len({(t, len(d)) for t, d in parsed.values()}) != 1:
        raise ValueError("these shares do not belong together" if parsed else "no shares were given")
    needed = next(iter(parsed.values()))[0]
    if len(parsed) < needed:
        raise ValueError("%d different shares are needed, %d were given" % (needed, len(parsed)))
    points = [(number, data) for number, (_, data) in sorted(parsed.items())][:needed]
    result = bytearray()
    for position in range(len(points[0][1])):
        value = 0
        for i, (xi, data) in enumerate(points):
            weight = 1
            for j, (xj, _) in enumerate(points):
                if i != j:
                    weight = multiply(weight, divide(xj, xi ^ xj))
            value ^= multiply(data[position], weight)
        result.append(value)
    try:
        return result.decode()
    except UnicodeDecodeError:
        raise ValueError("the result is no text: shares of different secrets were mixed") from None


@server.tool("check_share", "Says whether a share was typed correctly, without the others.", {"share": STRING}, annotations=pure)
def check_share(share):
    threshold, number, data = parse(share)
    return "Share %d of a secret of %d bytes; %d shares are needed." % (number, len(data), threshold)


server.run()
