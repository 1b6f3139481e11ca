"""A store of small texts for the customers of an agency."""
import re

from mcp import Server

server = Server("shared-shelves", "1.5.0", "Keeps small texts for the customers of an agency, in memory. Each customer has a shelf of its own; no customer can read or replace what is on the shelf of another.")
CUSTOMER = {"type": "string", "pattern": "^[a-z][a-z0-9]{1,30}$", "description": "short name of the customer", "examples": ["acme", "northwind"]}
ITEM = {"type": "string", "pattern": "^[a-z0-9]{1,40}$", "description": "name of the text on the shelf", "examples": ["slogan", "euprices"]}
CHANGES = {"readOnlyHint": False, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
READS = {"readOnlyHint": True, "openWorldHint": False}

shelves, sizes = {}, {}


def key(customer, item):
    if not re.fullmatch(r"[a-z][a-z0-9]{1,30}", customer):
        raise ValueError("customer is a short name of small letters and digits")
    if not re.fullmatch(r"[a-z0-9]{1,40}", item):
        raise ValueError("item is a name of small letters and digits")
    return customer + item


@server.tool("put_item", "Puts a text on the shelf of a customer, in place of an older one of that name.",
             {"customer": CUSTOMER, "item": ITEM, "text": {"type": "string", "maxLength": 5000, "description": "the text"}}, annotations={**CHANGES, "destructiveHint": True})
def put_item(customer, item, text):
    shelves[key(customer, item)] = text
    sizes.setdefault(customer, set()).add(item)
    return "%s is on the shelf of %s" % (item, customer)


@server.tool("get_item", "Returns a text from the shelf of a customer.", {"customer": CUSTOMER, "item": ITEM}, annotations=READS)
def get_item(customer, item):
    found = key(customer, item)
    if found not in shelves:
        raise LookupError("no such text on the shelf of %s" % customer)
    return shelves[found]


@server.tool("list_items", "Lists the names of the texts on the shelf of a customer.", {"customer": CUSTOMER}, annotations=READS)
def list_items(customer):
    return sorted(sizes.get(customer, ())) or "the shelf is empty"


server.run()
