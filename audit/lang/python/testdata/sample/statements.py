"""Statements of each kind."""
from __future__ import annotations
import os, sys as system, os.path as p
from . import near
from .. import far as distant
from ...up.there import (one, two as deux,)
from collections import *
import xml.etree.ElementTree

a = b = c = 1
a, *rest = c, [b] = 1, [2]
(x): int = 5
x.y: "str"
z[0]: list[int] = []
a += 1; a -= 2; a **= 3; a //= 4; a >>= 5; a <<= 6; a @= b; a |= 1; a &= 2; a ^= 3; a %= 4
print ("a name", file=system.stderr)
print
exec = print
assert a, "with a message"
assert (b)
del a, (b, c), x.y, z[0]
del (rest)
pass; ...
if a: pass
elif b: x = 1; y = 2
elif c:
    pass
else: pass
while a < b:
    if a: break
    continue
else:
    a = 1
for i in 1, 2, *rest: print(i)
for (i, j), k[0], *m in (): pass
else: pass
try:
    raise ValueError from None
except (OSError, TypeError) as e:
    raise
except A.B: pass
except:
    raise E(1)
else:
    pass
finally:
    del e
try: pass
finally: pass
try:
    pass
except* OSError as group:
    pass
except *(A, B):
    pass
with open(a) as f: pass
with open(a) as f, open(b) as (g, h), c: pass
with (open(a) as f, open(b) as g,): pass
with (a, b): pass
with (a): pass
with (a) as b: pass
with (a, b) as c: pass
with (a).b as c, d: pass
with (yield_ := a): pass
with (x for x in y) as gen: pass
with (a as b): pass

def outer():
    global one, two
    n = 0
    def inner():
        nonlocal n
        n = yield
        n = yield 1, 2
        yield from inner()
        x: int = yield
        await_ = (yield)
        return *a, b
    return

async def wait():
    async for x in y: pass
    else: pass
    async with a as b, c: pass
    async with (a as b, c): pass
    await x
    return [await y async for y in z if await y]

@decorator
@a.b[0](c)
@(lambda f: f)
@x if y else z
class C(Base, *more, metaclass=M, **keywords):
    'doc'
    @property
    async def f(self): 'doc of f'
    class D: pass
type = 1
match = type
case = match
_ = case
match[0] = type
match.x = 1
match(x)
match (x), y
match -x
match * a
type[0]
type(x)
print(type, match)
match, case = 1, 2
match: int
if match: pass
lambda: (yield)
