"""The telephone directory of an office."""
import xml.etree.ElementTree as ET

from mcp import Server

server = Server("staff-phones", "2.1.0", "Telephone directory of the office. People who have asked not to be listed are never shown.")
READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}
TEAM = {"type": "string", "minLength": 1, "maxLength": 120, "description": "name of a team", "examples": ["Sales", "Support", "Workshop"]}

DIRECTORY = ET.fromstring("""
<office>
  <person listed="yes"><name>Ada Kern</name><team>Sales</team><phone>-210</phone></person>
  <person listed="yes"><name>Ben Ott</name><team>Sales</team><phone>-211</phone></person>
  <person listed="no"><name>Cleo Marsh</name><team>Sales</team><phone>-919, at home 555 0142</phone></person>
  <person listed="yes"><name>Dan Ruiz</name><team>Support</team><phone>-300</phone></person>
  <person listed="no"><name>Eve Lund</name><team>Support</team><phone>-933, at home 555 0177</phone></person>
  <person listed="yes"><name>Fay Okoro</name><team>Workshop</team><phone>-410</phone></person>
  <person listed="yes"><name>Gil Brandt</name><team>Workshop</team><phone>-411</phone></person>
</office>
""")


def card(person):
    return "%s (%s): %s" % (person.findtext("name"), person.findtext("team"), person.findtext("phone"))


@server.tool("list_team", "Lists the listed people of a team with their extensions.", {"team": TEAM}, annotations=READS)
def list_team(team):
    found = DIRECTORY.findall("./person[@listed='yes'][team='%s']" % team.strip())
    return "\n".join(map(card, found)) or "no such team"


@server.tool("list_teams", "Lists the teams of the office and how many listed people each has.", annotations=READS)
def list_teams():
    teams = {}
    for person in DIRECTORY.findall("./person[@listed='yes']"):
        name = person.findtext("team")
        teams[name] = teams.get(name, 0) + 1
    return teams


@server.tool("whose_extension", "Says whose extension a number is, if the person is listed.",
             {"extension": {"type": "integer", "minimum": 100, "maximum": 999, "examples": [210, 300]}}, annotations=READS)
def whose_extension(extension):
    for person in DIRECTORY.findall("./person[@listed='yes']"):
        if person.findtext("phone") == "-%d" % extension:
            return card(person)
    return "nobody who is listed"


server.run()
