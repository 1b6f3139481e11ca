"""Noughts and crosses, with games that can be saved as a text and loaded again."""
import base64
import pickle

from mcp import STRING, Server

server = Server("game-saves", "1.0.0", "Noughts and crosses. A game can be saved as a text and loaded.")
LINES = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]
HINTS = {"destructiveHint": False, "openWorldHint": False}


class Game:
    def __init__(self):
        self.cells = [" "] * 9

    def turn(self):
        return "XO"[sum(c != " " for c in self.cells) % 2]

    def winner(self):
        return next((self.cells[a] for a, b, c in LINES if self.cells[a] != " " and self.cells[a] == self.cells[b] == self.cells[c]), None)

    def __str__(self):
        return "\n".join("|".join(self.cells[i:i + 3]) for i in (0, 3, 6))


game = Game()


@server.tool("play", "Puts the next mark into a cell, 0 to 8.", {"cell": {"type": "integer", "minimum": 0, "maximum": 8}}, annotations=HINTS)
def play(cell):
    if game.winner() or game.cells[cell] != " ":
        return "that is not possible\n" + str(game)
    game.cells[cell] = game.turn()
    return str(game)


@server.tool("save_game", "The game as a text.", annotations={"readOnlyHint": True, "openWorldHint": False})
def save_game():
    return "sg1." + base64.b64encode(pickle.dumps(game.__dict__)).decode()


@server.tool("load_game", "Loads a game that was saved as a text.", {"saved": {**STRING, "pattern": "^sg1\\.", "examples": [save_game()]}}, annotations=HINTS)
def load_game(saved):
    version, _, body = saved.partition(".")
    if version != "sg1":
        return "this is no saved game"
    game.__dict__.update(pickle.loads(base64.b64decode(body)))
    return "%s\n%d marks" % (game, sum(c != " " for c in game.cells))


server.run()
