#!/usr/bin/env python3
"""bank-ofx FOLDER: the bank statements (*.ofx, *.qfx) in a folder, by month and category.

categories.json beside the statements maps a word in a payee to a category. Account numbers are never answered."""
import html
import json
import os
import re
import sys
from collections import defaultdict
from decimal import Decimal, InvalidOperation
from pathlib import Path

from mcp import Server

FOLDER = Path(sys.argv[1] if len(sys.argv) > 1 else ".").expanduser().resolve()
RULES = FOLDER / "categories.json"
FIELD = re.compile(r"<(TRNAMT|DTPOSTED|NAME|MEMO|FITID|CURDEF)>([^<\r\n]*)", re.I)
MONTH = re.compile(r"(19|20)\d\d-(0[1-9]|1[0-2])")

server = Server("bank-ofx", version="0.8.0", instructions="Reads the OFX and QFX statements in %s. Rules for categories are kept in %s." % (FOLDER, RULES))


def transactions():
    seen, found = set(), []
    for file in sorted(f for f in FOLDER.iterdir() if f.suffix.lower() in (".ofx", ".qfx")):
        if file.is_symlink() or not file.is_file() or file.stat().st_size > 20_000_000:
            continue
        raw = file.read_bytes()
        charset = "cp1252" if b"CHARSET:1252" in raw[:500] else "utf-8"
        for block in re.split(r"<STMTTRN>", raw.decode(charset, "replace"), flags=re.I)[1:]:
            fields = {k.upper(): html.unescape(v).strip() for k, v in FIELD.findall(re.split(r"</STMTTRN>|</BANKTRANLIST>", block, maxsplit=1, flags=re.I)[0])}
            try:
                amount = Decimal(fields.get("TRNAMT", "").replace(",", "."))
            except InvalidOperation:
                continue
            date = fields.get("DTPOSTED", "")[:8]
            if not amount.is_finite() or not re.fullmatch(r"\d{8}", date):
                continue
            key = (fields.get("FITID") or (file.name, len(found)), date, amount)
            if key not in seen:  # statements overlap
                seen.add(key)
                found.append(("%s-%s-%s" % (date[:4], date[4:6], date[6:]), amount, (fields.get("NAME") or fields.get("MEMO") or "?")[:80]))
    return sorted(found)


def rules():
    try:
        kept = json.loads(RULES.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    if not isinstance(kept, dict) or not all(isinstance(v, str) for v in kept.values()):
        raise ValueError("%s is no object of words and categories" % RULES)
    return kept


def category(payee, kept):
    low = payee.lower()
    return next((c for word, c in kept.items() if word.lower() in low), "other")


def month_of(value):
    if value is not None and not MONTH.fullmatch(value):
        raise ValueError("month is written like 2026-03")
    return value


MONTH_SCHEMA = {"type": "string", "pattern": "^(19|20)[0-9]{2}-(0[1-9]|1[0-2])$", "examples": ["2026-03"]}
READ = {"readOnlyHint": True, "openWorldHint": False}


@server.tool("sums", "Sums income and spending of the statements in %s by month and category." % FOLDER, optional={"month": MONTH_SCHEMA}, annotations=READ)
def sums(month=None):
    month_of(month)
    kept, totals = rules(), defaultdict(Decimal)
    for date, amount, payee in transactions():
        if month in (None, date[:7]):
            totals[date[:7], category(payee, kept)] += amount
    return "\n".join("%s  %-20s %12.2f" % (m, c, t) for (m, c), t in sorted(totals.items())) or "No transactions."


@server.tool("uncategorised", "Lists payees of the statements that no rule gives a category, those with the most money first.", optional={"month": MONTH_SCHEMA}, annotations=READ)
def uncategorised(month=None):
    month_of(month)
    kept, totals = rules(), defaultdict(Decimal)
    for date, amount, payee in transactions():
        if month in (None, date[:7]) and category(payee, kept) == "other":
            totals[payee] += amount
    return "\n".join("%12.2f  %s" % (t, p) for p, t in sorted(totals.items(), key=lambda x: -abs(x[1]))[:100]) or "Every payee has a category."


@server.tool("set_category", "Adds or changes a rule in categories.json of the statements' folder: payees that hold the word get the category. An empty category removes the rule.",
             required={"word": {"type": "string", "minLength": 2, "maxLength": 60}, "category": {"type": "string", "maxLength": 40}},
             annotations={"readOnlyHint": False, "destructiveHint": True, "idempotentHint": True, "openWorldHint": False})
def set_category(word, category):
    word, category = word.strip(), category.strip()
    if not 2 <= len(word) <= 60 or len(category) > 40 or not (word + category).isprintable():
        raise ValueError("a word has 2 to 60 characters and a category at most 40, on one line")
    kept = rules()
    if category:
        kept[word] = category
    elif kept.pop(word, None) is None:
        return "There is no such rule."
    part = RULES.with_suffix(".json.part")
    part.write_text(json.dumps(kept, ensure_ascii=False, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    os.replace(part, RULES)
    return "%d rules in %s." % (len(kept), RULES)


server.run()
