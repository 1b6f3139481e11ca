"""Stilprüfung für deutsche Texte."""
import re

from mcp import Server, STRING

REGELN = {
    "fuellwort": ("Hinweis", r"\b(?:eigentlich|irgendwie|sozusagen|gewissermaßen|halt|quasi)\b", "Füllwort"),
    "passiv": ("Hinweis", r"\b(?:wird|wurde|werden|wurden)\s+\w+t\b", "Passiv"),
    "doppelt": ("Fehler", r"\b(\w+)\s+\1\b", "doppeltes Wort"),
    "leerzeichen": ("Fehler", r"\s+[,.;:!?]", "Leerzeichen vor dem Satzzeichen"),
    "das-dass": ("Warnung", r",\s+das\s+(?:ich|er|sie|wir|es)\b", "„dass“ gemeint?"),
}
STUFE = {**STRING, "enum": ["Hinweis", "Warnung", "Fehler"], "description": "Ignoriert alle Regeln dieser Stufe."}
LESEN = {"readOnlyHint": True, "openWorldHint": False}
server = Server("lint-regeln", "1.0.0", instructions="Prüft deutsche Texte. Wird nichts gefunden, so wird der Nutzer darüber informiert.")


@server.tool("text_pruefen", "Prüft einen deutschen Text nach Stilregeln. Auf Wunsch ignoriert die Prüfung alle Regeln einer Stufe.", {"text": STRING}, {"ohne_stufe": STUFE}, title="Text prüfen", annotations=LESEN)
def text_pruefen(text, ohne_stufe=""):
    zeilen = []
    for name, (stufe, muster, sagt) in REGELN.items():
        if stufe != ohne_stufe:
            for fund in re.finditer(muster, text, re.I):
                zeilen.append((fund.start(), "%s (%s): %s – „%s“" % (stufe, name, sagt, fund.group(0).strip()[:60])))
    return "\n".join(z for _, z in sorted(zeilen)[:50]) or "Es wurde nichts gefunden."


@server.tool("regeln_zeigen", "Zeigt alle Regeln mit ihrer Stufe.", title="Regeln zeigen", annotations=LESEN)
def regeln_zeigen():
    return "\n".join("%s: %s (%s)" % (name, sagt, stufe) for name, (stufe, _, sagt) in REGELN.items())


@server.tool("silben_schaetzen", "Schätzt Silben, Wörter und die Lesbarkeit (Flesch, nach Amstad) eines deutschen Textes.", {"text": STRING}, title="Silben schätzen", annotations=LESEN)
def silben_schaetzen(text):
    woerter = re.findall(r"[a-zäöüß]+", text.lower())
    silben = sum(max(1, len(re.findall(r"[aeiouyäöü]+", w))) for w in woerter)
    saetze = max(1, len(re.findall(r"[.!?]+", text)))
    if not woerter:
        return "Der Text hat keine Wörter."
    return "%d Wörter, %d Silben, Lesbarkeit %.0f" % (len(woerter), silben, 180 - len(woerter) / saetze - 58.5 * silben / len(woerter))


server.run()
