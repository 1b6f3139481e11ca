"""Makes time pass faster in this interpreter: clocks, sleeps, and waits of threads and event loops."""


def _hurry(pace, shortest):
    """pace has, for each stretch of time, its first second, its rate, and the faster clock's second then."""
    import time

    def shown(elapsed):
        begin, rate, before = max(p for p in pace if p[0] <= elapsed)
        return before + (elapsed - begin) * rate

    def real(second):
        begin, rate, before = max(p for p in pace if p[2] <= second)
        return begin + (second - before) / rate

    clock_of_all, born = time.monotonic, time.monotonic()

    def faster(clock, unit):
        start = clock()
        kind = type(start)
        return lambda: start + kind(shown(max((clock() - start) / unit, 0)) * unit)

    for name, unit in (("time", 1), ("time_ns", 10**9), ("monotonic", 1), ("monotonic_ns", 10**9)):
        setattr(time, name, faster(getattr(time, name), unit))

    def shorter(seconds):
        # What polls often keeps a pace that a machine bears.
        if seconds is None or seconds <= shortest:
            return seconds
        now = clock_of_all() - born
        return max(real(shown(now) + seconds) - now, shortest)

    sleep = time.sleep
    time.sleep = lambda seconds: sleep(shorter(seconds))

    import selectors
    import threading

    wait = threading.Condition.wait
    threading.Condition.wait = lambda self, timeout=None: wait(self, shorter(timeout))
    for name in ("SelectSelector", "PollSelector", "EpollSelector"):
        kind = getattr(selectors, name, None)
        if kind is not None:
            kind.select = _with_shorter(kind.select, shorter)

    import signal

    setitimer, alarm = signal.setitimer, signal.alarm
    signal.setitimer = lambda which, seconds, interval=0.0: setitimer(which, shorter(seconds), shorter(interval))
    signal.alarm = lambda seconds: int(setitimer(signal.ITIMER_REAL, shorter(seconds))[0]) if seconds else alarm(0)


def _with_shorter(select, shorter):
    return lambda self, timeout=None: select(self, shorter(timeout))


try:
    # Ten minutes a second for five seconds, then eight days in a second and a half.
    _hurry(((0, 600, 0), (5, 460800, 3000), (6.5, 600, 694200)), 0.005)
except Exception:
    pass
