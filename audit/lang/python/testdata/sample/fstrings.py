f'', F"", fr'\d{x}', rf"\{x}", Rf'{x}', f'''a
{x}
b'''
f'{x}', f'a{x}b{y}c', f'{{}}', f'{{{x}}}', f'}}{{', f'a{{b', f'{x}}}'
f'{x!r}', f'{x!s:>10}', f'{x:{w}}', f'{x:{w}.{p}f}', f'{x:a{b:{c}}d}', f'{x!a:}', f'{x:%H:%M}', f'{x::}'
f'{x=}', f'{x = }', f'{x=!r}', f'{x = :>10}', f'a{x=}b', f'{x == y}', f'{x != y}', f'{x>=y}', f'{(x:=1)}', f'{x:=5}'
f'{"a"}', f'{"a" "b"}', f"{d['k']}", f'{f"{y}"}', f'{a, b}', f'{*a, b}', f'{lambda_}', f'{(lambda x: x)(1)}'
f'{ {1: 2}[1] }', f'{ {x for x in y} }', f'{x if y else z}', f'{yield_}', f'{x[1:2]}', f'{f(a, b=c)}'
'a' f'b{x}' 'c' f"d{y}e" "f"
'a' f'b' 'c'
f'' 'x'
f'\n\x41{x}\N{BULLET}\u00e9{y}\{z}'
f'\N{BULLET}{{\N{BULLET}}}'
f'{d["k"]}', f"{d["k"]}", f"{f"{f"{1}"}"}", f'{'\n'.join(a)}'
f'{
    x  # a comment
    + y
}'
f'''{
x:
>10}'''
f"{x:{"a"}>{10}}"
f'{a["b"]:{c['d']}}'
f'é{ñ}😀{ñ}'
f"{x!r:{y!s}}"
def f():
    return f'{yield}', f'{await_}', f'{(yield x)}'
(f'a'
 f'{x}'
 'b')
f'{x:{{y}}}'
print(f"{'a' if b else 'c'}: {d:,}", f'{e}')
