"""Begins every start-up hook of Python: the hook that it stands before runs first."""


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
