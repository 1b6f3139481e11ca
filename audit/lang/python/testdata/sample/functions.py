def f(): ...
def f(a, b=1, /, c: int = 2, *args: *Ts, d, e: str = 'x', **kw: Any) -> list[int]: pass
def f(a, /): pass
def f(*, a): pass
def f(a, /, *, b): pass
def f(*a, b=1, c): pass
def f(a, b,): return
def f(*a,): pass
def f(**k,): pass
def f(a, /, b, *c, d, **e,): pass
def f[T](x: T) -> T: pass
def f[T: int, *Ts, **P](x: T = 1): pass
def f[T: (int, str) = int, *Ts = *tuple[int, ...], **P = [int]](): pass
class A[T]: pass
class A[T: Base](Base[T], metaclass=M): x: T = 1
type X = int
type X[T] = list[T]
type X[T: int = bool, *Ts = *t, **P = []] = Callable[P, T]
type match = type
async def f(x): await x; await f(await x) ** 2; -await x
def f():
    """doc

    string"""
    def g(): 'inner'; return g
    class C:
        def m(self, x=lambda y: y): return super().m(x)
    return lambda: (lambda: g)
@a
# comment between

@b()
async def f(): pass
class C(object): pass
class C(): pass
class C:
    x = 1

    def f(self): pass
    # a comment at the end
# and one outside
    y = 2
