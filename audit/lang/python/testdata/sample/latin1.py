# -*- coding: latin-1 -*-
x = "café \xe9"; été = f"é{x}é", x
"""déjà
vu""" + b"x"
