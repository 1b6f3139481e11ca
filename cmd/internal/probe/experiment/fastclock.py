"""Makes time pass faster in this interpreter: clocks, sleeps, and waits of threads and event loops."""


def _hurry(rate, shortest):
    import time

    def faster(clock):
        start = clock()
        kind = type(start)
        return lambda: start + kind((clock() - start) * rate)

    for name in ("time", "time_ns", "monotonic", "monotonic_ns"):
        setattr(time, name, faster(getattr(time, name)))

    def shorter(seconds):
        # What polls often keeps a pace that a machine bears.
        return seconds if seconds is None or seconds <= shortest else max(seconds / rate, shortest)

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


def _next():
    """Runs the sitecustomize that this one stands before."""
    import os
    import sys

    here = os.path.dirname(os.path.abspath(__file__))
    paths = [os.path.abspath(directory) for directory in sys.path]
    for directory in paths[paths.index(here) + 1:]:
        name = os.path.join(directory, "sitecustomize.py")
        if os.path.isfile(name):
            with open(name, "rb") as file:
                exec(compile(file.read(), name, "exec"), {"__name__": "sitecustomize", "__file__": name})
            return


try:
    _next()
except Exception:
    pass
try:
    _hurry(600, 0.005)
except Exception:
    pass
