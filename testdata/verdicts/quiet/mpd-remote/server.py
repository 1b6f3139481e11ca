"""mpd-remote: a remote control for the Music Player Daemon.

MPD_HOST and MPD_PORT are read as mpc reads them: a host, password@host, or the path of a socket."""
import os
import socket

from mcp import STRING, Server

PASSWORD, _, HOST = (os.environ.get("MPD_HOST") or "localhost").rpartition("@")
PORT = int(os.environ.get("MPD_PORT") or 6600)
WHERE = HOST if HOST.startswith("/") else "%s:%d" % (HOST, PORT)
MOST = 200  # songs in an answer

server = Server("mpd-remote", version="0.9.2", instructions="Talks to the Music Player Daemon at %s; set MPD_HOST and MPD_PORT for another one." % WHERE)


class MPDError(Exception):
    pass


def quote(argument):
    if "\n" in argument or "\0" in argument:
        raise MPDError("line breaks cannot be sent to MPD")
    return '"%s"' % argument.replace("\\", "\\\\").replace('"', '\\"')


def connect():
    if HOST.startswith("/"):
        link = socket.socket(socket.AF_UNIX)
        link.settimeout(4)
        link.connect(HOST)
        return link
    return socket.create_connection((HOST, PORT), timeout=4)


def send(*commands):
    """Sends commands, each a tuple of a verb and arguments, and gives the key-value lines of the last one's answer."""
    try:
        link = connect()
    except OSError as error:
        raise MPDError("no MPD at %s (%s)" % (WHERE, error)) from None
    with link, link.makefile("rwb") as stream:
        if not stream.readline(200).startswith(b"OK MPD"):
            raise MPDError("what listens at %s is not MPD" % WHERE)
        pairs = []
        for verb, *arguments in ([("password", PASSWORD)] if PASSWORD else []) + list(commands):
            stream.write((" ".join([verb, *map(quote, arguments)]) + "\n").encode())
            stream.flush()
            pairs = []
            while True:
                line = stream.readline(8192).decode("utf-8", "replace").rstrip("\n")
                if line == "OK":
                    break
                if not line or line.startswith("ACK"):
                    raise MPDError(line or "MPD closed the connection")
                if len(pairs) < 20000:
                    pairs.append(tuple(line.partition(": ")[::2]))
    return pairs


def songs(pairs):
    found = []
    for key, value in pairs:
        if key == "file":
            found.append({"file": value})
        elif found:
            found[-1][key] = value
    return found


def label(song):
    title = song.get("Title") or os.path.basename(song["file"])
    return "%s%s%s" % (song["Artist"] + " - " if "Artist" in song else "", title, " (%s)" % song["Album"] if "Album" in song else "")


@server.tool("now_playing", "Says what MPD plays, how far it is and how loud.", annotations={"readOnlyHint": True})
def now_playing():
    status = dict(send(("status",)))
    current = songs(send(("currentsong",)))
    at = status.get("elapsed", "0").split(".")[0]
    return "%s: %s, second %s, volume %s" % (status.get("state", "unknown"), label(current[0]) if current else "nothing", at, status.get("volume", "unknown"))


@server.tool("show_queue", "Lists the songs in the queue of MPD.", annotations={"readOnlyHint": True})
def show_queue():
    return "\n".join("%s. %s" % (int(s.get("Pos", 0)) + 1, label(s)) for s in songs(send(("playlistinfo",)))[:MOST]) or "The queue is empty."


@server.tool("playback", "Starts, pauses or stops the music, or goes to the next or previous song.", {"action": {**STRING, "enum": ["play", "pause", "stop", "next", "previous"]}},
             annotations={"readOnlyHint": False, "destructiveHint": False})
def playback(action):
    verbs = {"play": ("play",), "pause": ("pause", "1"), "stop": ("stop",), "next": ("next",), "previous": ("previous",)}
    if action not in verbs:
        return "Actions: " + ", ".join(verbs)
    send(verbs[action])
    return now_playing()


@server.tool("search_music", "Searches MPD's library by artist, album or title; can also put what it finds at the end of the queue.", {"text": {**STRING, "minLength": 2}},
             {"field": {**STRING, "enum": ["any", "artist", "album", "title"]}, "add_to_queue": {"type": "boolean"}}, annotations={"readOnlyHint": False, "destructiveHint": False})
def search_music(text, field="any", add_to_queue=False):
    if field not in ("any", "artist", "album", "title"):
        raise MPDError("fields are any, artist, album and title")
    found = songs(send(("search", field, text)))[:MOST]
    if add_to_queue and found:
        send(*(("add", song["file"]) for song in found[:50]))
    lines = [label(song) for song in found]
    if add_to_queue and found:
        lines.append("Added %d of them to the queue." % min(50, len(found)))
    return "\n".join(lines) or "Nothing in the library matches."


server.run()
