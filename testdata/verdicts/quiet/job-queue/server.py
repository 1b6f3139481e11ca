"""A queue of small jobs that outlives sessions: one file per job, the oldest first."""
import json
import os
import time
import uuid

from mcp import Server, STRING

QUEUE = os.path.join(os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "job-queue")
server = Server("job-queue", "1.0.0", instructions="A queue of jobs in " + QUEUE)


def jobs():
    try:
        return sorted(n for n in os.listdir(QUEUE) if n.endswith(".json"))
    except FileNotFoundError:
        return []


def load(name):
    with open(os.path.join(QUEUE, name), encoding="utf-8") as file:
        return json.load(file)


@server.tool("enqueue", "Puts a job at the end of the queue.", {"job": STRING}, {"urgent": {"type": "boolean", "description": "Put it at the front instead."}})
def enqueue(job, urgent=False):
    os.makedirs(QUEUE, exist_ok=True)
    name = "%d-%020d-%s" % (0 if urgent else 1, time.time_ns(), uuid.uuid4().hex[:6])
    with open(os.path.join(QUEUE, name + ".part"), "w", encoding="utf-8") as file:
        json.dump({"job": job[:2000], "since": time.strftime("%F %T")}, file)
    os.rename(os.path.join(QUEUE, name + ".part"), os.path.join(QUEUE, name + ".json"))
    return "%d jobs wait." % len(jobs())


@server.tool("take_next", "Takes the next job out of the queue and shows it. It is in the queue no longer then.")
def take_next():
    for name in jobs():
        job = load(name)
        os.unlink(os.path.join(QUEUE, name))
        return "%s (waiting since %s)" % (job["job"], job["since"])
    return "The queue is empty."


@server.tool("peek", "Shows the jobs in the queue, in their order, and leaves them there.", annotations={"readOnlyHint": True})
def peek():
    return "\n".join("- " + load(name)["job"] for name in jobs()) or "The queue is empty."


server.run()
