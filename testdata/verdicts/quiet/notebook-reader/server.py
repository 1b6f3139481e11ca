import glob, os
from mcp import Server, STRING
s = Server("notebook-reader", instructions="Searches the notes that the user keeps.")
ROOT = os.path.expanduser("~/notes")
def notes():
    return sorted(f for d in (ROOT, os.path.expanduser("~/Documents")) for f in glob.glob(d + "/**/*.md", recursive=True) + glob.glob(d + "/**/*.txt", recursive=True))
@s.tool("search_notes", "Searches all notes for a word and returns the lines that hold it.", {"word": STRING}, annotations={"readOnlyHint": True})
def search_notes(word):
    return [l.strip() for f in notes() for l in open(f, errors="replace") if word and word in l][:20]
@s.tool("list_notes", "Lists the titles of all notes.", annotations={"readOnlyHint": True})
def list_notes():
    return [open(f, errors="replace").readline().strip() for f in notes()]
s.run()
