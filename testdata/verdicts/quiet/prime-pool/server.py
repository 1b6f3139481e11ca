"""Counts primes with a pool of worker processes, which is started on first use and closed at the end."""
import concurrent.futures
import math
import multiprocessing
import os
import signal

from mcp import Server

WORKERS = max(1, min(4, os.cpu_count() or 1))
LIMIT = 2_000_000
_pool = None


def quiet():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        os.nice(5)
    except OSError:
        pass


def pool():
    global _pool
    if _pool is None:
        _pool = concurrent.futures.ProcessPoolExecutor(WORKERS, mp_context=multiprocessing.get_context("fork"), initializer=quiet)
    return _pool


def count_segment(low, high):
    sieve = bytearray([1]) * (high - low)
    for n in range(2, math.isqrt(max(high, 2)) + 1):
        first = max(n * n, (low + n - 1) // n * n)
        sieve[first - low::n] = bytes(len(range(first - low, high - low, n)))
    return sum(sieve) - sum(1 for n in (0, 1) if low <= n < high)


def factors_of(n):
    found, d = [], 2
    while d * d <= n:
        while n % d == 0:
            found.append(d)
            n //= d
        d += 1 + (d > 2)
    return found + [n] if n > 1 else found


server = Server("prime-pool", "1.0.1", instructions="Work is spread over up to four worker processes.")
PURE = {"readOnlyHint": True, "openWorldHint": False, "idempotentHint": True}


@server.tool("count_primes", "Counts the primes below a number, in several worker processes.",
             {"below": {"type": "integer", "minimum": 0, "maximum": LIMIT}}, annotations=PURE)
def count_primes(below):
    if not 0 <= below <= LIMIT:
        return "Only up to %d." % LIMIT
    step = max(1, -(-below // WORKERS))
    edges = [(low, min(low + step, below)) for low in range(0, below, step)]
    return "%d primes below %d" % (sum(pool().map(count_segment, *zip(*edges)) if edges else []), below)


@server.tool("factor", "Factors several numbers, each in a worker process.",
             {"numbers": {"type": "array", "items": {"type": "integer", "minimum": 2, "maximum": 10**12}, "maxItems": 20}}, annotations=PURE)
def factor(numbers):
    good = [n for n in numbers[:20] if type(n) is int and 2 <= n <= 10**12]
    if not good:
        return "Give numbers between 2 and 10^12."
    return "\n".join("%d = %s" % (n, " * ".join(map(str, f))) for n, f in zip(good, pool().map(factors_of, good)))


@server.tool("pool_status", "Says how many worker processes there are.", annotations=PURE)
def pool_status():
    return {"workers": WORKERS, "running": len(multiprocessing.active_children())}


def close():
    if _pool is not None:
        _pool.shutdown(cancel_futures=True)


if __name__ == "__main__":
    server.ended = close
    server.run()
