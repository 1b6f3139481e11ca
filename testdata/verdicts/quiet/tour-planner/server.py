#!/usr/bin/env python3
"""tour-planner: a short round trip through places that are given by coordinates. Distances are as the crow flies."""
import json
import math
import multiprocessing
import os
import random
import sys
import time

MOST, SECONDS = 150, 4.0


def distance(a, b):
    (lat1, lon1), (lat2, lon2) = ((math.radians(p["lat"]), math.radians(p["lon"])) for p in (a, b))
    h = math.sin((lat2 - lat1) / 2) ** 2 + math.cos(lat1) * math.cos(lat2) * math.sin((lon2 - lon1) / 2) ** 2
    return 2 * 6371.0088 * math.asin(min(1.0, math.sqrt(h)))


def length(tour, km):
    return sum(km[tour[i - 1]][tour[i]] for i in range(len(tour)))


def improve(job):
    """Nearest neighbour from one start, then 2-opt until nothing gets better or the time is up."""
    km, start, end = job
    left, tour = set(range(len(km))) - {start}, [start]
    while left:
        tour.append(min(left, key=km[tour[-1]].__getitem__))
        left.remove(tour[-1])
    better = True
    while better and time.monotonic() < end:
        better = False
        for i in range(len(tour) - 1):
            for j in range(i + 2, len(tour) - (i == 0)):
                a, b, c, d = tour[i], tour[i + 1], tour[j], tour[(j + 1) % len(tour)]
                if km[a][c] + km[b][d] < km[a][b] + km[c][d] - 1e-9:
                    tour[i + 1:j + 1] = reversed(tour[i + 1:j + 1])
                    better = True
    return length(tour, km), tour


def places_of(arguments):
    places = arguments.get("places")
    if not isinstance(places, list) or not 2 <= len(places) <= MOST:
        raise ValueError("places is a list of 2 to %d" % MOST)
    checked = []
    for number, p in enumerate(places, 1):
        try:
            lat, lon = float(p["lat"]), float(p["lon"])
        except (KeyError, TypeError, ValueError, OverflowError):
            raise ValueError("place %d needs lat and lon as numbers" % number) from None
        if not (-90 <= lat <= 90 and -180 <= lon <= 180):
            raise ValueError("place %d is not on earth" % number)
        checked.append({"name": str(p.get("name") or number)[:80], "lat": lat, "lon": lon})
    return checked


def solve(km):
    end = time.monotonic() + SECONDS
    starts = random.Random(7).sample(range(len(km)), min(8, len(km)))
    jobs = [(km, s, end) for s in starts]
    if len(km) > 30:
        try:
            with multiprocessing.get_context("fork").Pool(min(4, os.cpu_count() or 1)) as pool:
                return min(pool.map(improve, jobs, chunksize=1))
        except OSError as error:  # no semaphores in some containers
            print("tour-planner: one process only: %s" % error, file=sys.stderr)
    return min(map(improve, jobs))


def plan_round_trip(arguments):
    places = places_of(arguments)
    km = [[distance(a, b) for b in places] for a in places]
    total, tour = solve(km)
    first = tour.index(0)
    tour = tour[first:] + tour[:first]
    lines = ["%s  +%.1f km" % (places[stop]["name"], km[tour[i - 1]][stop] if i else 0) for i, stop in enumerate(tour)]
    return "\n".join(lines + ["back to %s  +%.1f km" % (places[0]["name"], km[tour[-1]][0]), "%.1f km in all" % total])


def measure_route(arguments):
    places = places_of(arguments)
    legs = [distance(a, b) for a, b in zip(places, places[1:])]
    return "\n".join(["%s to %s: %.1f km" % (a["name"], b["name"], d) for a, b, d in zip(places, places[1:], legs)] + ["%.1f km in all" % sum(legs)])


def bounding_box(arguments):
    places = places_of(arguments)
    lats, lons = [p["lat"] for p in places], [p["lon"] for p in places]
    return json.dumps({"south": min(lats), "west": min(lons), "north": max(lats), "east": max(lons), "middle": [sum(lats) / len(lats), sum(lons) / len(lons)]})


PLACES = {"type": "array", "minItems": 2, "maxItems": MOST, "items": {"type": "object", "properties": {"name": {"type": "string"}, "lat": {"type": "number"}, "lon": {"type": "number"}}, "required": ["lat", "lon"]}}
TOOLS = {
    "plan_round_trip": (plan_round_trip, "Finds a short round trip that visits every place once and returns to the first. Takes up to %d seconds; the result is good, not proven best. More than 30 places are shared among worker processes." % SECONDS),
    "measure_route": (measure_route, "Measures a route in the order given, leg by leg."),
    "bounding_box": (bounding_box, "Gives the smallest box around places, and their middle."),
}


def respond(request):
    method, params = request.get("method"), request.get("params")
    params = params if isinstance(params, dict) else {}
    if method == "initialize":
        return {"result": {"protocolVersion": params.get("protocolVersion", "2024-11-05"), "capabilities": {"tools": {}}, "serverInfo": {"name": "tour-planner", "version": "0.1.9"}}}
    if method == "ping":
        return {"result": {}}
    if method == "tools/list":
        schema = {"type": "object", "properties": {"places": PLACES}, "required": ["places"]}
        return {"result": {"tools": [{"name": n, "description": d, "inputSchema": schema, "annotations": {"readOnlyHint": True, "openWorldHint": False}} for n, (_, d) in TOOLS.items()]}}
    if method == "tools/call" and params.get("name") in list(TOOLS):
        try:
            arguments = params.get("arguments")
            return {"result": {"content": [{"type": "text", "text": TOOLS[params["name"]][0](arguments if isinstance(arguments, dict) else {})}]}}
        except ValueError as error:
            return {"result": {"isError": True, "content": [{"type": "text", "text": str(error)}]}}
    return {"error": {"code": -32602 if method == "tools/call" else -32601, "message": "unknown tool" if method == "tools/call" else "unknown method"}}


if __name__ == "__main__":
    while line := sys.stdin.readline():
        try:
            request = json.loads(line)
        except ValueError:
            continue
        if isinstance(request, dict) and "id" in request:
            print(json.dumps({"jsonrpc": "2.0", "id": request["id"], **respond(request)}), flush=True)
