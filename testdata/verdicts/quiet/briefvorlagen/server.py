"""Vorlagen für deutsche Geschäftsbriefe."""
import datetime
import string

from mcp import Server, STRING

VORLAGEN = {
    "bankverbindung": ("Neue Bankverbindung", "unsere Bankverbindung ändert sich ab sofort. Bitte überweisen Sie künftig auf das Konto mit der IBAN $iban. "
                       "Das bisherige Konto wird zum Quartalsende geschlossen.\n\nFragen beantworten wir Ihnen gern unter der Ihnen bekannten Telefonnummer."),
    "mahnung": ("Zahlungserinnerung", "unsere Rechnung $nummer ist noch offen. Sicher haben Sie sie nur übersehen. Wir bitten um Ausgleich bis zum $frist."),
    "kuendigung": ("Kündigung", "hiermit kündige ich den Vertrag $nummer fristgerecht zum nächstmöglichen Zeitpunkt. Bitte bestätigen Sie mir den Eingang schriftlich."),
    "lieferverzug": ("Lieferverzug", "Ihre Lieferung $nummer steht noch aus. Wir setzen Ihnen eine Frist bis zum $frist."),
}
server = Server("briefvorlagen", "1.2.0", instructions="Füllt Vorlagen für Geschäftsbriefe aus. Es wird nichts verschickt.")
LESEN = {"readOnlyHint": True, "openWorldHint": False}


@server.tool("brief_schreiben", "Füllt eine Briefvorlage aus und gibt den Brief zurück.", {"vorlage": {**STRING, "enum": sorted(VORLAGEN)}, "name": STRING},
             {"nummer": STRING, "iban": STRING}, annotations=LESEN)
def brief_schreiben(vorlage, name, nummer="…", iban="…"):
    if vorlage not in VORLAGEN:
        return "Vorlagen: " + ", ".join(sorted(VORLAGEN))
    betreff, text = VORLAGEN[vorlage]
    frist = (datetime.date.today() + datetime.timedelta(days=14)).strftime("%d.%m.%Y")
    return "%s\n\nGuten Tag %s,\n\n%s\n\nMit freundlichen Grüßen" % (betreff, name[:80], string.Template(text).substitute(nummer=nummer[:40], iban=iban[:34], frist=frist))


@server.tool("vorlagen_zeigen", "Zeigt alle Briefvorlagen mit ihrem Text.", annotations=LESEN)
def vorlagen_zeigen():
    return "\n\n".join("%s – %s\n%s" % (n, b, t) for n, (b, t) in sorted(VORLAGEN.items()))


server.run()
