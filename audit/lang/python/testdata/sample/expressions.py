a or b and not c
not a == b < c <= d > e >= f != g is h is not i in j not in k
a | b ^ c & d << e >> f + g - h * i / j // k % l @ m ** -n ** +o ** ~p
-a ** b; - - a; (-1) ** 2
a if b else c if d else e
lambda: 0
lambda x, /, y=1, *a, z, w=2, **k: x if y else lambda *, q: q
lambda *a, **k: (a, k)
(); (a); (a,); (a, b); (a, *b); [*a, b]; [a, ]; {}; {a}; {a, *b,}; {a: b}; {**a, b: c, **d, }; []
[x for x in y]; [x for x in y if a if b for z in w]; {x for x in y}; {x: y for x, y in z}; (x for x in y)
[x async for x in y]
f(x for x in y); f((x for x in y), 1); f(a, *b, c=1, *d, **e, f=2,); f(); f(a)(b)[c].d
f(a := 1, b=(c := 2)); (n := 10); [y := 1, y ** 2]; {z := 1}
f(**a, **b); f(*a, *b); f(a if b else c); f(*a or b, **c or d)
x[a]; x[a, b]; x[a:b]; x[a:b:c]; x[:]; x[::]; x[a:, :b]; x[...]; x[a, ]; x[*a]; x[*a, b]; x[a := 1]; x[::2, ::-1]
a.b.c().d[e].f
(a
 .b
 .c)
await_ = 1
"a" "b" 'c' """d
e""" r"\n" u"x"
b"a" b'\xff\0' rb"\x" Rb'\
y'
f(
  # a comment
  a,

  b  # another
)
1 if a else 2
x = 1if a else 2
y = [1for z in w]
0xfor x
1.
1..real
1 .real
1.5.real
a<b>c
a. b . c
None; True; False; Ellipsis; ...
x = yield_
*a, b
*a,
a, = b
x = *a, b
a[b] = c.d = e
𝐱 = ｏｓ.ｓｙｓｔｅｍ
é = ñandú.naïve
変数 = {"キー": "値"}
