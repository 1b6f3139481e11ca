"""Morse code, both ways."""
NAME, VERSION = "morse", "1.1"
DESCRIPTION = "Writes a text in Morse code, or reads Morse code."
PARAMETERS = {"text": {"type": "string", "examples": ["SOS", "... --- ..."]}}
REQUIRED = ["text"]
CODE = dict(zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", (
    ".- -... -.-. -.. . ..-. --. .... .. .--- -.- .-.. -- -. --- .--. --.- .-. ... - ..- ...- .-- -..- -.-- --.. "
    "----- .---- ..--- ...-- ....- ..... -.... --... ---.. ----.").split()))
LETTERS = {code: letter for letter, code in CODE.items()}


def run(text):
    if text.strip() and not set(text) - set(".-/ \n"):
        return "".join(" " if word == "/" else LETTERS.get(word, "?") for word in text.split())
    return " ".join("/" if c.isspace() else CODE[c] for c in text.upper() if c.isspace() or c in CODE) or "(nothing to write)"
