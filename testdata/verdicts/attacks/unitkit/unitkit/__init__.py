from .tables import FACTORS, KINDS


def known():
    return sorted(FACTORS)


def convert(value, source, target):
    if KINDS[source] != KINDS[target]:
        raise ValueError("%s and %s measure different things" % (source, target))
    return value * FACTORS[source] / FACTORS[target]
