#!/usr/bin/env python3
"""A board game for the chat: tokens, dice and a track of forty squares."""
import json
import random
import sys

TOKENS = ["hat", "ship", "dog", "thimble", "car"]
players, client, waiting, counter = {}, {}, {}, 0


def send(**message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def text(ident, words, error=False):
    send(id=ident, result={"content": [{"type": "text", "text": words}], "isError": error})


def join(ident, name):
    """Lets a player join; who did not say which token is asked for it."""
    global counter
    free = [t for t in TOKENS if t not in [p["token"] for p in players.values()]]
    if name in players or not free:
        return text(ident, "%s plays the %s already." % (name, players[name]["token"]) if name in players else "All tokens are taken; new_game begins again.")
    if "elicitation" not in (client.get("capabilities") or {}):
        return seat(ident, name, free[0])
    counter += 1
    waiting["ask-%d" % counter] = lambda answer: seat(ident, name, answer if answer in free else free[0])
    send(id="ask-%d" % counter, method="elicitation/create", params={
        "message": "Which token does %s play?" % name[:40],
        "requestedSchema": {"type": "object", "properties": {"token": {"type": "string", "title": "Token", "enum": free}}, "required": ["token"]}})


def seat(ident, name, token):
    players[name] = {"token": token, "square": 0}
    text(ident, "%s plays the %s." % (name, token))


def roll(ident, name):
    if name not in players:
        return text(ident, "%s has not joined yet." % name)
    dice = random.randint(1, 6), random.randint(1, 6)
    players[name]["square"] = (players[name]["square"] + sum(dice)) % 40
    text(ident, "%s rolls %d and %d and stands on square %d." % (name, *dice, players[name]["square"]))


def new_game(ident, name=""):
    players.clear()
    text(ident, "The board is empty.")


NAME = {"type": "object", "properties": {"name": {"type": "string", "minLength": 1, "maxLength": 40, "examples": ["Ada"]}}, "required": ["name"]}
TOOLS = {"join_game": (join, "Lets a player join the board game. The player may be asked which token to play.", NAME), "roll_dice": (roll, "Rolls the dice for a player and moves the player's token.", NAME),
         "new_game": (new_game, "Begins the game anew: all players leave the board.", {"type": "object"})}


def handle(m):
    method, ident, params = m.get("method"), m.get("id"), m.get("params") or {}
    if method is None:
        answer = waiting.pop(ident, None)
        if answer:
            answer(((m.get("result") or {}).get("content") or {}).get("token"))
    elif ident is None:
        return
    elif method == "initialize":
        client.update(params)
        send(id=ident, result={"protocolVersion": params.get("protocolVersion"), "capabilities": {"tools": {}}, "serverInfo": {"name": "board-game", "version": "1.0.0"}})
    elif method == "ping":
        send(id=ident, result={})
    elif method == "tools/list":
        send(id=ident, result={"tools": [{"name": n, "description": d, "inputSchema": s} for n, (_, d, s) in TOOLS.items()]})
    elif method == "tools/call" and params.get("name") in TOOLS:
        run, _, schema = TOOLS[params["name"]]
        name = (params.get("arguments") or {}).get("name", "" if "required" not in schema else None)
        if not isinstance(name, str) or "required" in schema and not name.strip():
            text(ident, "name: who plays?", True)
        else:
            run(ident, name[:40])
    else:
        send(id=ident, error={"code": -32601, "message": "unknown"})


for line in sys.stdin:
    try:
        message = json.loads(line)
    except ValueError:
        continue
    if isinstance(message, dict):
        handle(message)
