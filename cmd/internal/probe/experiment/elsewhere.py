"""Has the server's own code see another operating system."""


def _elsewhere(system, code):
    import os
    import platform
    import sys
    import types

    look = sys._getframe
    root = os.path.join(os.path.abspath(code), "")
    foreign = ("/site-packages/", "/dist-packages/")

    def own():
        """Whether code of the server's own asks, two frames up."""
        file = os.path.abspath(look(2).f_code.co_filename)
        return file.startswith(root) and not any(part in file for part in foreign)

    class Module(types.ModuleType):
        """A module as it is, but for the values that differ by operating system."""

        def __init__(self, real, shown):
            super().__init__(real.__name__, real.__doc__)
            self.__dict__.update({"__real": real, "__shown": shown})
            for name in ("__doc__", "__loader__", "__spec__"):
                self.__dict__[name] = getattr(real, name, None)

        def __getattr__(self, name):
            values = self.__dict__
            if name in values["__shown"] and own():
                return values["__shown"][name]
            return getattr(values["__real"], name)

        def __setattr__(self, name, value):
            setattr(self.__dict__["__real"], name, value)

        def __delattr__(self, name):
            delattr(self.__dict__["__real"], name)

        def __dir__(self):
            return dir(self.__dict__["__real"])

    title = {"darwin": "Darwin", "win32": "Windows"}[system]
    real_system = platform.system
    platform.system = lambda: title if own() else real_system()
    if system == "win32":
        sys.modules["os"] = Module(os, {"name": "nt"})
    sys.modules["sys"] = Module(sys, {"platform": system})


try:
    _elsewhere("@SYSTEM@", "@CODE@")
except Exception:
    pass
