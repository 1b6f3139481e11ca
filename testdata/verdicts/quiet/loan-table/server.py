"""loan-table: annuities to the cent. Amounts are decimals, and each instalment is rounded as banks do it."""
from decimal import ROUND_HALF_UP, Decimal, getcontext

from mcp import STRING, Server

getcontext().prec = 40
CENT = Decimal("0.01")
server = Server("loan-table", version="1.0.7", instructions="Rates are nominal, in percent a year, and paid monthly. This is arithmetic, not advice.")
pure = {"readOnlyHint": True, "idempotentHint": True, "openWorldHint": False}
amount = {"type": "number", "exclusiveMinimum": 0, "maximum": 1e9}
rate = {"type": "number", "minimum": 0, "maximum": 100, "description": "percent a year"}
months = {"type": "integer", "minimum": 1, "maximum": 600}


def cents(value):
    return value.quantize(CENT, ROUND_HALF_UP)


def money(value):
    return "{:,.2f}".format(value)


def checked(amount, rate, months=1):
    amount, rate = Decimal(str(amount)), Decimal(str(rate))
    if not (amount.is_finite() and rate.is_finite() and 0 < amount <= 10**9 and 0 <= rate <= 100 and 1 <= months <= 600):
        raise ValueError("an amount is up to a billion, a rate 0 to 100 percent, a time 1 to 600 months")
    return cents(amount), rate / 1200


def instalment_of(amount, monthly, months):
    if not monthly:
        return cents(amount / months)
    return cents(amount * monthly / (1 - (1 + monthly) ** -months))


def rows(amount, monthly, instalment, extra=Decimal(0), last=600):
    """Gives (month, paid, interest, repaid, left) until nothing is left; the last payment is all that remains."""
    left, month = amount, 0
    while left > 0 and month < last:
        month += 1
        interest = cents(left * monthly)
        paid = left + interest if month == last else min(instalment + extra, left + interest)
        if paid <= interest:
            raise ValueError("an instalment of %s does not even pay the interest of %s" % (money(instalment), money(interest)))
        left = left + interest - paid
        yield month, paid, interest, paid - interest, left


@server.tool("monthly_instalment", "Computes the monthly instalment of a loan, and what it costs in all.", {"amount": amount, "rate": rate, "months": months}, annotations=pure)
def monthly_instalment(amount, rate, months):
    total, monthly = checked(amount, rate, months)
    instalment = instalment_of(total, monthly, months)
    interest = sum((row[2] for row in rows(total, monthly, instalment, last=months)), Decimal(0))
    return "%s a month for %d months; interest in all %s." % (money(instalment), months, money(interest))


@server.tool("repayment_table", "Makes the table of a loan, by month or by year, as Markdown.", {"amount": amount, "rate": rate, "months": months}, {"by": {**STRING, "enum": ["month", "year"]}}, annotations=pure)
def repayment_table(amount, rate, months, by="year"):
    if by not in ("month", "year"):
        raise ValueError("a table is by month or by year")
    total, monthly = checked(amount, rate, months)
    lines = ["| %s | paid | interest | repaid | left |" % by, "|--:|--:|--:|--:|--:|"]
    sums, left = [Decimal(0)] * 3, total
    for month, *parts, left in rows(total, monthly, instalment_of(total, monthly, months), last=months):
        sums = [s + p for s, p in zip(sums, parts)]
        if by == "month" or month % 12 == 0 or left == 0:
            number = month if by == "month" else -(-month // 12)
            lines.append("| %d | %s | %s |" % (number, " | ".join(map(money, sums)), money(left)))
            sums = [Decimal(0)] * 3
    return "\n".join(lines)


@server.tool("extra_payment", "Compares a loan with and without an extra payment every month: how much sooner it ends and what is saved.", {"amount": amount, "rate": rate, "months": months, "extra": amount}, annotations=pure)
def extra_payment(amount, rate, months, extra):
    total, monthly = checked(amount, rate, months)
    more, _ = checked(extra, rate)
    instalment = instalment_of(total, monthly, months)
    plain, faster = list(rows(total, monthly, instalment, last=months)), list(rows(total, monthly, instalment, more, months))
    saved = sum(r[2] for r in plain) - sum(r[2] for r in faster)
    return "Ends after %d instead of %d months, and saves %s of interest." % (len(faster), len(plain), money(saved))


@server.tool("effective_rate", "Turns a nominal rate a year with monthly payments into the effective rate.", {"rate": rate}, annotations=pure)
def effective_rate(rate):
    _, monthly = checked(1, rate)
    return "%.3f %%" % (((1 + monthly) ** 12 - 1) * 100)


@server.prompt("compare_offers", "Compares offers for a loan.", [{"name": "offers", "description": "amount, rate and months of each", "required": True}])
def compare_offers(offers):
    return "Compare these loans with monthly_instalment, as a table with instalment, interest in all and effective rate:\n\n" + offers


server.run()
