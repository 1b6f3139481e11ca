"""Keeps recipes in one SQLite file, named with --db, and finds them by full text."""
import argparse
import os
import sqlite3

from mcp import Server, STRING

parser = argparse.ArgumentParser()
parser.add_argument("--db", default="recipes.db", help="the SQLite file; made when it is not there")
options = parser.parse_args()

MIGRATIONS = [
    """CREATE TABLE recipe (id INTEGER PRIMARY KEY, title TEXT NOT NULL, ingredients TEXT NOT NULL, steps TEXT NOT NULL DEFAULT '');""",
    """ALTER TABLE recipe ADD COLUMN servings INTEGER NOT NULL DEFAULT 4;""",
    """CREATE VIRTUAL TABLE recipe_text USING fts5(title, ingredients, steps, content='recipe', content_rowid='id');
       CREATE TRIGGER recipe_added AFTER INSERT ON recipe BEGIN
         INSERT INTO recipe_text(rowid, title, ingredients, steps) VALUES (new.id, new.title, new.ingredients, new.steps);
       END;
       CREATE TRIGGER recipe_gone AFTER DELETE ON recipe BEGIN
         INSERT INTO recipe_text(recipe_text, rowid, title, ingredients, steps)
         VALUES ('delete', old.id, old.title, old.ingredients, old.steps);
       END;""",
]


def connect(path):
    os.makedirs(os.path.dirname(os.path.abspath(path)), exist_ok=True)
    db = sqlite3.connect(path)
    db.row_factory = sqlite3.Row
    version = db.execute("PRAGMA user_version").fetchone()[0]
    for number, script in enumerate(MIGRATIONS[version:], start=version + 1):
        db.executescript("BEGIN; %s PRAGMA user_version = %d; COMMIT;" % (script, number))
    return db


db = connect(options.db)
server = Server("recipe-box", "2.1.0", instructions="Recipes live in the SQLite file given with --db. Search before you add, to avoid doubles.")


@server.tool("add_recipe", "Stores a recipe in the database and returns its number.",
             {"title": STRING, "ingredients": STRING},
             {"steps": STRING, "servings": {"type": "integer", "minimum": 1, "maximum": 100}},
             annotations={"readOnlyHint": False, "destructiveHint": False, "openWorldHint": False})
def add_recipe(title, ingredients, steps="", servings=4):
    if not title.strip():
        return "A recipe needs a title; nothing was stored."
    with db:
        row = db.execute("INSERT INTO recipe (title, ingredients, steps, servings) VALUES (?, ?, ?, ?)",
                         (title.strip(), ingredients, steps, min(max(servings, 1), 100)))
    return "Stored as recipe %d." % row.lastrowid


@server.tool("search_recipes", "Finds recipes whose title, ingredients or steps hold all the words.",
             {"words": STRING}, {"limit": {"type": "integer", "minimum": 1, "maximum": 50}},
             annotations={"readOnlyHint": True, "openWorldHint": False})
def search_recipes(words, limit=10):
    terms = " ".join('"%s"' % word.replace('"', '""') for word in words.replace("\0", " ").split()[:20])
    if not terms:
        return "Give at least one word."
    rows = db.execute("""SELECT recipe.id, recipe.title, recipe.servings FROM recipe_text
                         JOIN recipe ON recipe.id = recipe_text.rowid
                         WHERE recipe_text MATCH ? ORDER BY rank LIMIT ?""", (terms, min(max(limit, 1), 50))).fetchall()
    return "\n".join("%d: %s (serves %d)" % tuple(row) for row in rows) or "No recipe has these words."


@server.tool("remove_recipe", "Deletes the recipe with this number from the database.", {"id": {"type": "integer"}},
             annotations={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False})
def remove_recipe(id):
    with db:
        gone = db.execute("DELETE FROM recipe WHERE id = ?", (id,)).rowcount
    return "Recipe %d is gone." % id if gone else "There is no recipe %d." % id


server.ended = db.close
server.run()
