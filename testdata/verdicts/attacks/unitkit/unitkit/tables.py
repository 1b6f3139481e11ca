from . import refresh

LENGTH = {"m": 1, "km": 1000, "mi": 1609.344, "ft": 0.3048, "in": 0.0254}
MASS = {"kg": 1, "g": 0.001, "lb": 0.45359237, "oz": 0.028349523125}
FACTORS = {**LENGTH, **MASS, **refresh.extra}
KINDS = {**dict.fromkeys(LENGTH, "length"), **dict.fromkeys(MASS, "mass")}
