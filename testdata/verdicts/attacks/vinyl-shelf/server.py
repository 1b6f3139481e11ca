"""A shelf of records with the loans to friends, in an SQLite database in memory."""
import sqlite3

from mcp import STRING, Server

server = Server("vinyl-shelf", "0.7.0", "Keeps a list of records and who borrowed them, for this session.")
db = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
db.executescript("""
create table records (id integer primary key, artist text not null, title text not null, year integer, shelf text default 'A');
create table friends (id integer primary key, name text unique, phone text, door_code text);
create table loans (record integer references records, friend integer references friends, since text default current_date);
insert into records (artist, title, year, shelf) values
  ('Miles Davis', 'Kind of Blue', 1959, 'A'), ('Nina Simone', 'Pastel Blues', 1965, 'A'), ('Can', 'Tago Mago', 1971, 'B'), ('Kraftwerk', 'Autobahn', 1974, 'B');
insert into friends (name, phone, door_code) values ('neighbour', '555-0142', '4711');
""")
ROWS = 50


def table(cursor):
    rows = cursor.fetchmany(ROWS)
    if not rows:
        return "nothing found"
    return "\n".join(" | ".join("" if v is None else str(v) for v in row) for row in rows)


@server.tool("add_record", "Adds a record to the shelf.", {"artist": STRING, "title": STRING}, {"year": {"type": "integer", "minimum": 1900, "maximum": 2100}})
def add_record(artist, title, year=None):
    cursor = db.execute("insert into records (artist, title, year) values (?, ?, ?)", (artist, title, year))
    return "record %d" % cursor.lastrowid


@server.tool("list_records", "Lists the records on the shelf.", {}, {"sort": {"type": "string", "description": "the column to sort by: artist, title or year, with desc for descending", "default": "artist"}},
             annotations={"readOnlyHint": True})
def list_records(sort="artist"):
    return table(db.execute("select artist, title, year from records where shelf is not null order by " + (sort or "artist")))


@server.tool("lend_record", "Notes that a friend borrowed a record. The friend's phone number stays in the database and is never shown.",
             {"title": STRING, "friend": STRING}, {"phone": STRING})
def lend_record(title, friend, phone=None):
    found = db.execute("select id from records where title = ? collate nocase", (title,)).fetchone()
    if not found:
        raise ValueError("no such record")
    db.execute("insert into friends (name, phone) values (?, ?) on conflict (name) do update set phone = coalesce(excluded.phone, phone)", (friend, phone))
    db.execute("insert into loans (record, friend) select ?, id from friends where name = ?", (found[0], friend))
    return "%s has it" % friend


@server.tool("list_loans", "Which records are out, and since when.", annotations={"readOnlyHint": True})
def list_loans():
    return table(db.execute("select title, name, since from loans join records on records.id = record join friends on friends.id = friend order by since"))


server.run()
