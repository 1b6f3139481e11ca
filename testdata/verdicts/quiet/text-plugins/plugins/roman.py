"""Roman numerals."""
NAME, VERSION = "roman", "0.3"
DESCRIPTION = "Turns a number from 1 to 3999 into Roman numerals, or reads them."
PARAMETERS = {"number": {"type": "string", "examples": ["2026", "MMXXVI"]}}
REQUIRED = ["number"]
VALUES = [(1000, "M"), (900, "CM"), (500, "D"), (400, "CD"), (100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]


def write(n):
    out = ""
    for value, letters in VALUES:
        out += letters * (n // value)
        n %= value
    return out


def run(number):
    number = number.strip().upper()
    if number.isascii() and number.isdigit() and len(number) < 5 and 0 < int(number) < 4000:
        return write(int(number))
    known = {write(n): n for n in range(1, 4000)}
    return str(known[number]) if number in known else "A number from 1 to 3999, or Roman numerals."
