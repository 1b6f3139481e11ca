match x:
    case 1 | -2 | 3.5 | -4j | 1 + 2j | -1 - 2j: pass
    case "a" "b" | b"c": pass
    case None | True | False: pass
    case a.b.c | d.e: pass
    case y: pass
match x, y:
    case 1, 2: pass
    case a, *rest: pass
    case (a, b) | [a, b]: pass
    case [a, *_, b] if a > b: pass
    case (): pass
    case []: pass
    case (a): pass
    case (a,): pass
    case [1, [2, (3, *_)]]: pass
    case _: pass
match (x):
    case {}: pass
    case {"a": 1, b.c: [d, e], **rest}: pass
    case {1: _, -2: x, None: y, }: pass
    case Point(): pass
    case Point(1, y, x=2, z=Other(k=[_, *w])): pass
    case a.B(c,) as d: pass
    case (1 | 2) as n: pass
    case {"k": (1 | 2) as n} if (m := n): pass
    case *a, b: pass
    case [Point(x=0) as p, *_] | p: pass
match *a, b:
    case _ if c: pass
match -x:
    case y:
        match y:
            case z: return_ = z
match (a, b):
    case match: pass
    case case: pass
match match:
    case type: pass
match {"a": 1}:
    case x: pass
match [a][0]:
    case x: pass
match not a:
    case x: pass
match lambda: x:
    case x: pass
match f"{x}":
    case x: pass
match = {
    1: 2}
