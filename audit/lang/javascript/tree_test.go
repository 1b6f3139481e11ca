package javascript

import (
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// TestTree holds how each construct stands in the tree. The ending of the name is that
// of the file.
func TestTree(t *testing.T) {
	for _, c := range []struct{ file, src, want string }{
		{"a.js", "a = 1\nb++\n++c\nreturn\nx", `(Assign targets:[a] value:1) (Operation ++ operands:[b]) (Operation ++ operands:[c]) (Return return) x`},
		{"a.js", "let x = 1, [y, , z = 2] = w; var v; const {a, b: {c}, ...d} = e", `(Assign targets:[x] value:1 let) (Assign targets:[(Collection list items:[y null (Assign targets:[z] value:2)])] value:w let) (Assign targets:[v] var) (Assign targets:[(Collection dict items:[(Item key:"a" value:a) (Item key:"b" value:(Collection dict items:[(Item key:"c" value:c)])) (Spread x:d)])] value:e const)`},
		{"a.js", "let = 1; async = 2; of(); get.set", `(Assign targets:[let] value:1) (Assign targets:[async] value:2) (Call func:of) (Attr x:get set)`},
		{"a.js", "do x(); while (y) z()", `(Loop test:y body:[(Call func:x)]) (Call func:z)`},
		{"a.js", "if (a) b; else if (c) d; else { e }", `(If test:a then:[b] else:[(If test:c then:[d] else:[e])])`},
		{"a.js", "for (let i = 0, n = 2; i < n; i++) f(i)", `(Loop init:[(Assign targets:[i] value:0 let) (Assign targets:[n] value:2 let)] step:[(Operation ++ operands:[i])] test:(Operation < operands:[i n]) body:[(Call func:f args:[i])])`},
		{"a.js", "for (const k in o) ; for (x.y of z) w", `(Loop target:k iter:o) (Loop target:(Attr x:x y) iter:z body:[w])`},
		{"a.mjs", "for await (const x of y()) await z", `(Loop target:x iter:(Call func:y) body:[(Operation await operands:[z])])`},
		{"a.js", "for (var i = 0 in o);", `(Loop target:i iter:o init:[(Assign targets:[i] value:0 var)])`},
		{"a.js", "outer: while (1) { continue outer; break }", `(Loop test:1 body:[(Jump continue) (Jump break)])`},
		{"a.js", "switch (a) { case 1: b(); case (c): break; default: d() }", `(Switch subject:a cases:[(Case patterns:[1] body:[(Call func:b)]) (Case patterns:[c] body:[(Jump break)]) (Case body:[(Call func:d)])])`},
		{"a.js", "try { a } catch { b } finally { c } try { d } catch ({ message }) {}", `(Try body:[a] handlers:[(Handler body:[b])] finally:[c]) (Try body:[d] handlers:[(Handler name:(Collection dict items:[(Item key:"message" value:message)]))])`},
		{"a.js", "with (o) { p }", `(With items:[o] body:[p])`},
		{"a.mjs", "using f = open(); await using g = h()", `(Assign targets:[f] value:(Call func:open) using) (Assign targets:[g] value:(Call func:h) using)`},
		{"a.js", "debugger; ;;throw new E", `(Return throw x:(Call func:E new))`},
		{"a.js", "a <!-- b\n--> c\nd", `a d`},
		{"a.mjs", "a<!--b", `(Operation < operands:[a (Operation ! operands:[(Operation -- operands:[b])])])`},
		{"a.js", "a + b + c - d * e ** f ** g", `(Operation - operands:[(Operation + operands:[a b c]) (Operation * operands:[d (Operation ** operands:[e (Operation ** operands:[f g])])])])`},
		{"a.js", "a ?? b, c?.d?.[e]?.(f)", `(Operation , operands:[(Operation ?? operands:[a b]) (Call func:(Index x:(Attr x:c d) keys:[e]) args:[f])])`},
		{"a.js", "a ? b : c ? d : e", `(Operation ?: operands:[a b (Operation ?: operands:[c d e])])`},
		{"a.js", "a = b = c += d ||= e", `(Assign targets:[a b] value:(Assign targets:[c] += value:(Assign targets:[d] ||= value:e)))`},
		{"a.js", "typeof void delete a.b; !-+~c; d++ + ++d", `(Operation typeof operands:[(Operation void operands:[(Operation delete operands:[(Attr x:a b)])])]) (Operation ! operands:[(Operation - operands:[(Operation + operands:[(Operation ~ operands:[c])])])]) (Operation + operands:[(Operation ++ operands:[d]) (Operation ++ operands:[d])])`},
		{"a.js", "a\n/b/g", `(Operation / operands:[a b g])`},
		{"a.js", `a = /[/\]]+/v.exec(/=x/); b /= c / d`, `(Assign targets:[a] value:(Call func:(Attr x:/[/\]]+/v exec) args:[/=x/])) (Assign targets:[b] /= value:(Operation / operands:[c d]))`},
		{"a.js", "x = a >> b >>> c >= d; e >>>= f", `(Assign targets:[x] value:(Operation >= operands:[(Operation >>> operands:[(Operation >> operands:[a b]) c]) d])) (Assign targets:[e] >>>= value:f)`},
		{"a.js", "new A; new A.B(c); new (f())(); new.target", `(Call func:A new) (Call func:(Attr x:A B) args:[c] new) (Call func:(Call func:f) new) (Attr x:new target)`},
		{"a.js", "import('x').then(y); import.meta.url; import.source('z')", `(Call func:(Attr x:(Call func:import args:["x"]) then) args:[y]) (Attr x:(Attr x:import meta) url) (Call func:(Attr x:import source) args:["z"])`},
		{"a.js", "({ a, b: 1, 'c': 2, 3: 4, [d]: 5, e() {}, async *f() {}, get g() {}, set g(v) {}, get: 1, async, ...h })", `(Collection dict items:[(Item key:"a" value:a) (Item key:"b" value:1) (Item key:"c" value:2) (Item key:3 value:4) (Item key:d value:5) (Item key:"e" value:(Function e)) (Item key:"f" value:(Function f async)) (Item key:"g" value:(Function g get)) (Item key:"g" value:(Function g params:[(Param v)] set)) (Item key:"get" value:1) (Item key:"async" value:async) (Spread x:h)])`},
		{"a.js", "[1, , ...a]", `(Collection list items:[1 null (Spread x:a)])`},
		{"a.js", "`a${b}c${`d${e}`}`; tag`x`; `no`; f`a${b}`", `(Template parts:["a" b "c" (Template parts:["d" e])]) (Call func:tag args:["x"]) "no" (Call func:f args:[(Template parts:["a" b])])`},
		{"a.js", "'\\x41\\u{1F600}\\uD83D\\uDE00\\n\\0\\101\\\n!'; \"\\ud800\"", `"A😀😀\n\x00A!" "�"`},
		{"a.js", "0x1F; 1_000n; .5e-3; 1..toString(); 0b11", `0x1F 1_000n .5e-3 (Call func:(Attr x:1. toString)) 0b11`},
		{"a.js", "undefined; true; null; void 0", `null true null (Operation void operands:[0])`},
		{"a.js", `\u0061b.c\u{64}; ünïcode`, `(Attr x:ab cd) ünïcode`},
		{"a.js", "(a, b); (0, c.d)(e)", `(Operation , operands:[a b]) (Call func:(Operation , operands:[0 (Attr x:c d)]) args:[e])`},
		{"a.js", "#x in y", `(Operation in operands:[#x y])`},
		{"a.js", "async () => await x; async x => y; async function f() { for await (a of b); } async(z)", `(Function body:[(Return return x:(Operation await operands:[x]))] async) (Function params:[(Param x)] body:[(Return return x:y)] async) (Function f body:[(Loop target:a iter:b)] async) (Call func:async args:[z])`},
		{"a.js", "function* g() { yield; yield* h; const x = yield y }", `(Function g body:[(Operation yield) (Operation yield operands:[h]) (Assign targets:[x] value:(Operation yield operands:[y]) const)])`},
		{"a.js", "(a, { b }, [c] = [], ...d) => ({}); x => y => z; () => {}\n(f)", `(Function params:[(Param a) (Param pattern:(Collection dict items:[(Item key:"b" value:b)])) (Param pattern:(Collection list items:[c]) default:(Collection list)) (Param d rest)] body:[(Return return x:(Collection dict))]) (Function params:[(Param x)] body:[(Return return x:(Function params:[(Param y)] body:[(Return return x:z)]))]) (Function) f`},
		{"a.js", "x = a => b, c", `(Operation , operands:[(Assign targets:[x] value:(Function params:[(Param a)] body:[(Return return x:b)])) c])`},
		{"a.js", "function f(a, b = 1, { c }, ...d) { 'use strict'; return }", `(Function f params:[(Param a) (Param b default:1) (Param pattern:(Collection dict items:[(Item key:"c" value:c)])) (Param d rest)] body:["use strict" (Return return)])`},
		{"a.js", "class A extends b.C { #p = 1; static q; static { r() } constructor() { super() } get s() {} static async *t() {} [u] = 2; [v]() {} 'w x'() {} static static; async; get }", `(Class A bases:[(Attr x:b C)] body:[(Assign targets:[#p] value:1) (Assign targets:[q]) (Block body:[(Call func:r)]) (Function constructor body:[(Call func:super)]) (Function s get) (Function t async) (Assign targets:[(Index x:this keys:[u])] value:2) (Assign targets:[(Index x:this keys:[v])] value:(Function)) (Function w x) (Assign targets:[static]) (Assign targets:[async]) (Assign targets:[get])])`},
		{"a.js", "x = class {}; y = class Z extends (a, b) {}", `(Assign targets:[x] value:(Class)) (Assign targets:[y] value:(Class Z bases:[(Operation , operands:[a b])]))`},
		{"a.ts", "@d @e(1) export class A { @f g = 1; @h() i() {} constructor(@j private k: T, readonly l = 2) {} }", `(Class A decorators:[d (Call func:e args:[1])] body:[f (Assign targets:[g] value:1) (Function i decorators:[(Call func:h)]) (Function constructor params:[(Param k decorators:[j]) (Param l default:2)])]) (Export names:[(ImportName A A)])`},
		{"a.mjs", "import 'a'; import b from 'b'; import * as c from 'c'; import d, { e, f as g, default as h, 'i j' as k } from 'd' with { type: 'json' }", `(Import a) (Import b names:[(ImportName default b)]) (Import c names:[(ImportName * c)]) (Import d names:[(ImportName default d) (ImportName e e) (ImportName f g) (ImportName default h) (ImportName i j k)])`},
		{"a.mjs", "export * from 'a'; export * as b from 'b'; export { c, d as e } from 'f'; export { g, h as default }", `(Import a names:[(ImportName * *)] exports) (Import b names:[(ImportName * b)] exports) (Import f names:[(ImportName c c) (ImportName d e)] exports) (Export names:[(ImportName g g) (ImportName h default)])`},
		{"a.mjs", "export const a = 1, { b } = c; export function d() {} export class E {} export default f", `(Assign targets:[a] value:1 const) (Assign targets:[(Collection dict items:[(Item key:"b" value:b)])] value:c const) (Export names:[(ImportName a a) (ImportName b b)]) (Function d) (Export names:[(ImportName d d)]) (Class E) (Export names:[(ImportName E E)]) (Export names:[(ImportName default)] value:f)`},
		{"a.mjs", "export default function () {} ", `(Export names:[(ImportName default)] value:(Function))`},
		{"a.mjs", "export default class A {} ", `(Class A) (Export names:[(ImportName A default)])`},
		{"a.mjs", "import defer * as a from 'a'; import defer from 'b'", `(Import a names:[(ImportName * a)]) (Import b names:[(ImportName default defer)])`},
		{"a.ts", "import type A from 'a'; import { type B, c } from 'b'; import type from 'd'; import e = require('e'); import f = g.h; export type { I } from 'i'; export = j", `(Import a names:[(ImportName default A)] types) (Import b names:[(ImportName c c)]) (Import d names:[(ImportName default type)]) (Import e names:[(ImportName * e)]) (Assign targets:[f] value:(Attr x:g h) const) (Import i names:[(ImportName I I)] types exports) (Assign targets:[(Attr x:module exports)] value:j)`},
		{"a.ts", "let a: string = b as any as C<D>, c!: E[] = <F>d, g = h! + i satisfies J", `(Assign targets:[a] value:b let) (Assign targets:[c] value:d let) (Assign targets:[g] value:(Operation + operands:[h i]) let)`},
		{"a.ts", "f<A, B<C>>(d); new M<string, X<Y>>(); a < b > (c); x<y; g<T>; h<T>`i`", `(Call func:f args:[d]) (Call func:M new) (Call func:a args:[c]) (Operation < operands:[x y]) g (Call func:h args:["i"])`},
		{"a.ts", "const f = <T, U extends keyof T = any>(a: T, b?: U): a is string => b", `(Assign targets:[f] value:(Function params:[(Param a) (Param b)] body:[(Return return x:b)]) const)`},
		{"a.ts", "a ? (b) : c => d; a ? (b): c => d : e; a ? (b, c) : d", `(Operation ?: operands:[a b (Function params:[(Param c)] body:[(Return return x:d)])]) (Operation ?: operands:[a (Function params:[(Param b)] body:[(Return return x:d)]) e]) (Operation ?: operands:[a (Operation , operands:[b c]) d])`},
		{"a.ts", "async <T>(x: T): Promise<T> => x; async (x): Promise<void> => {}", `(Function params:[(Param x)] body:[(Return return x:x)] async) (Function params:[(Param x)] async)`},
		{"a.ts", "function f(this: T, a?: string, ...b: number[]): asserts a is string; function f(a: any) {}", `(Function f params:[(Param a)])`},
		{"a.ts", "enum A { B, C = 'c', 'D' = 1 << 2 } const enum E { F } declare enum G { H }", `(Class A body:[(Assign targets:[B]) (Assign targets:[C] value:"c") (Assign targets:[D] value:(Operation << operands:[1 2]))]) (Class E body:[(Assign targets:[F])])`},
		{"a.ts", "namespace A.B { export const c = 1 } declare module 'x' { let y: z } declare global { interface W { v: `a${string}` } }", `(Block body:[(Assign targets:[c] value:1 const)])`},
		{"a.ts", "abstract class A<T> extends B<T> implements C, D<E> { private x?: T; abstract y(): void; [k: string]: any; declare z: string; override m<U>(this: U): this { return 1 } accessor w = 1 }", `(Class A bases:[B] body:[(Assign targets:[x]) (Function m body:[(Return return x:1)]) (Assign targets:[w] value:1)])`},
		{"a.ts", "type A<T> = T extends [infer H extends string, ...infer R] ? { [K in keyof T]-?: T[K] } : (a: B, ...c: D[]) => new () => void\ninterface X extends Y<Z> { a(): b; <T>(c): d }\ntype = 1; interface\nfoo", `(Assign targets:[type] value:1) interface foo`},
		{"a.ts", "declare function f(): void; declare const a: number; declare class C { m(): void }\nlet x = y as const", `(Assign targets:[x] value:y let)`},
		{"a.ts", "type(a); declare(b); namespace.c; module.exports = abstract", `(Call func:type args:[a]) (Call func:declare args:[b]) (Attr x:namespace c) (Assign targets:[(Attr x:module exports)] value:abstract)`},
		{"a.ts", "let v: typeof import('x').y<Z>, u: unique symbol, w: A.B<C<D>>[] | (() => void)[] & -1", `(Assign targets:[v] let) (Assign targets:[u] let) (Assign targets:[w] let)`},
		{"a.ts", "x.y<A>?.<B>(c); if (a < b && c > d) {}", `(Call func:(Attr x:x y) args:[c]) (If test:(Operation && operands:[(Operation < operands:[a b]) (Operation > operands:[c d])]))`},
		{"a.tsx", "const f = <T,>(x: T) => <A<T> b={x} />; const g = <T extends U>(y) => <></>", `(Assign targets:[f] value:(Function params:[(Param x)] body:[(Return return x:(Call func:A args:[(Arg b value:x)]))]) const) (Assign targets:[g] value:(Function params:[(Param y)] body:[(Return return x:(Collection list))]) const)`},
		{"a.jsx", `x = <A.B c='d' e={f} {...g} h data-i="j &amp; k">text {l} <br/>{/* none */}<m:n></m:n></A.B>`, `(Assign targets:[x] value:(Call func:(Attr x:A B) args:[(Arg c value:"d") (Arg e value:f) (Spread x:g) (Arg h value:true) (Arg data-i value:"j & k") "text " l (Call func:"br") (Call func:"m:n")]))`},
		{"a.jsx", "<></>; <div>{...a}</div> / 2", `(Collection list) (Operation / operands:[(Call func:"div" args:[(Spread x:a)]) 2])`},
		{"a.js", "#!/usr/bin/env node\nx", `x`},
		{"a.js", "import type A from 'a'; f((b: ?A, ...c: *): void => {})", `(Import a names:[(ImportName default A)] types) (Call func:f args:[(Function params:[(Param b) (Param c rest)])])`},
	} {
		t.Run(c.src, func(t *testing.T) {
			f := Language{}.Parse(c.file, []byte(c.src))
			if len(f.Unread) > 0 {
				t.Errorf("unread: %v", f.Unread)
			}
			if got := strings.TrimSuffix(strings.TrimPrefix(printed(f.Body), "["), "]"); got != c.want {
				t.Errorf("got\n\t%s\nwant\n\t%s", got, c.want)
			}
		})
	}
}

// TestFacts shows that the facts that all languages share see what this one holds:
// imports in each form, decorators of parameters and default exports.
func TestFacts(t *testing.T) {
	f := Language{}.Parse("a.ts", []byte("import { exec as run } from 'node:child_process'; import fs = require('fs');\n"+
		"export { listen } from './listen'; const { join } = require('path');\n"+
		"class A { constructor(@mark(run('a')) b) { fs.rmSync(join('c')) } }\nexport default () => listen()"))
	var got []string
	for _, c := range lang.CalculateFacts(f).Calls {
		got = append(got, strings.Join(c.Names, " or "))
	}
	if want := "require, mark, node:child_process.exec, fs.rmSync, path.join, listen"; strings.Join(got, ", ") != want {
		t.Errorf("got %s\nwant %s", strings.Join(got, ", "), want)
	}
}
