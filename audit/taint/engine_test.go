package taint_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/lang/golang"
	"github.com/coalmine-dev/coalmine/audit/lang/javascript"
	"github.com/coalmine-dev/coalmine/audit/lang/python"
	"github.com/coalmine-dev/coalmine/audit/sinks"
	"github.com/coalmine-dev/coalmine/audit/taint"
)

// guarded is a tool of Python with a check before its sink.
func guarded(check, sink string) string {
	return "import os, re, subprocess, shlex, pathlib, uuid, pickle, sqlite3, requests, urllib.request\nfrom urllib.parse import urlparse\nfrom mcp.server.fastmcp import FastMCP\nmcp = FastMCP('x')\n" +
		"ROOT = os.path.realpath('/srv')\nBASE = pathlib.Path('/srv').resolve()\nALLOWED = {'a', 'b'}\n@mcp.tool()\ndef t(p: str):\n" + check + "\n    return " + sink + "\n"
}

// TestChecks tells checks that hold from those that do not.
func TestChecks(t *testing.T) {
	const (
		opens = "open(os.path.join(ROOT, p))"
		shell = "os.system('x ' + p)"
		sql   = "sqlite3.connect('d').execute('SELECT * FROM t WHERE a = ' + p)"
		each  = "[open(os.path.join(ROOT, x)) for x in p]"
		get   = "requests.get(f'https://{p}/x')"
	)
	for _, c := range []struct {
		check, sink string
		holds       bool
	}{
		{"    pass", opens, false},
		{"    p = os.path.basename(p)", opens, true},
		{"    if '..' in p or os.path.isabs(p): raise ValueError()", opens, true},
		{"    if '..' in p: raise ValueError()", opens, false},
		{"    if p.startswith('/'): raise ValueError()", opens, false},
		{"    if '/' in p: raise ValueError()", opens, true},
		{"    p = p.replace('../', '')", opens, false},
		{"    p = 'x-' + p.replace('.', '-')", opens, true},
		{"    p = p.replace('/', '_')", opens, true},
		{"    if p not in ALLOWED: return None", opens, true},
		{"    if p in ALLOWED: return None", opens, false},
		{"    if p not in ALLOWED: print('odd')", opens, false},
		{"    assert p in ALLOWED", opens, true},
		{"    p = str(uuid.UUID(p))", opens, true},
		{"    for h in p:\n        if not re.fullmatch(r'[a-z]+', h): raise ValueError()", each, true},
		{"    for h in p:\n        if not re.fullmatch(r'[a-z]+', h): continue", each, false},
		{"    for h in p:\n        if h == 'x': break\n        if not re.fullmatch(r'[a-z]+', h): raise ValueError()", each, false},
		{"    for h in p:\n        h = os.path.basename(h)", each, false},
		{"    r = urllib.request.Request('https://api.example/x', data=p.encode())", "urllib.request.urlopen(r)", true},
		{"    r = urllib.request.Request('https://api.example/x', p.encode(), {'x': p})", "urllib.request.urlopen(r)", true},
		{"    r = urllib.request.Request(url=p, data=b'x')", "urllib.request.urlopen(r)", false},
		{"    r = urllib.request.Request('https://' + p)", "urllib.request.urlopen(r)", false},
		// A check that comes after the path was made, of the whole text that stands in it or of another.
		{"    f = os.path.join(ROOT, p)\n    if not re.fullmatch(r'[a-z]+', p): raise ValueError()", "open(f)", true},
		{"    f = BASE / p\n    f = f if re.fullmatch(r'[a-z]+', p) and f.is_file() else None", "open(f)", true},
		{"    f = BASE / (p + '.md')\n    if not re.fullmatch(r'[a-z]+', p): raise ValueError()", "open(f)", true},
		{"    f = os.path.join(ROOT, p)\n    if not re.fullmatch(r'[a-z]+', p): print('odd')", "open(f)", false},
		{"    f = os.path.join(ROOT, p)\n    end = p.split('.')[-1]\n    if not re.fullmatch(r'[a-z]+', end): raise ValueError()", "open(f)", false},
		{"    end = p.split('.')[-1]\n    f = os.path.join(ROOT, p, end)\n    if not re.fullmatch(r'[a-z]+', end): raise ValueError()", "open(f)", false},
		{"    f = os.path.join(ROOT, p)\n    p = 'x'\n    if not re.fullmatch(r'[a-z]+', p): raise ValueError()", "open(f)", false},
		{"    for h in p:\n        while len(h) > 9:\n            print(h)\n        if not re.fullmatch(r'[a-z]+', h): raise ValueError()", each, true},
		{"    import ipaddress\n    ipaddress.ip_address(p)", opens, true},
		{"    import ipaddress\n    ipaddress.ip_address(p)", get, false},
		{"    import ipaddress\n    try:\n        ipaddress.ip_address(p)\n    except ValueError:\n        pass", opens, false},
		{"    import ipaddress\n    if '%' in p or not ipaddress.ip_address(p).is_loopback: raise ValueError()", opens, true},
		{"    if not re.fullmatch(r'[a-z]+', p.strip().lower()): raise ValueError()", opens, true},
		{"    p = int(p)", shell, true},
		{"    p = shlex.quote(p)", shell, true},
		{"    p = p.replace(';', '')", shell, false},
		{"    if not re.match(r'^[a-z0-9.]+$', p): raise ValueError()", shell, true},
		{"    if not re.match(r'[a-z]+', p): raise ValueError()", shell, false},
		{"    if not re.search(r'^[a-z ]+$', p): raise ValueError()", shell, true},
		{"    if re.search(r'[^a-z]', p): raise ValueError()", shell, true},
		{"    if re.search(r'[;&]', p): raise ValueError()", shell, false},
		{"    p = re.sub(r'[^\\w]', '', p)", shell, true},
		{"    p = re.sub(r'[;]', '', p)", shell, false},
		{"    if not p.isalnum(): raise ValueError()", shell, true},
		{"    if not p.isidentifier(): return 1", sql, true},
		{"    p = p.replace(\"'\", \"''\")", sql, false},
		{"    if urlparse(p).hostname not in ALLOWED: raise ValueError()", "requests.get(p)", true},
		{"    if 'example.com' not in p: raise ValueError()", get, false},
		{"    if p == 'a':\n        pass\n    else:\n        return 1", get, true},
		{"    p = {'a': '1'}.get(p, '2')", get, true},
		{"    p = p if p in ALLOWED else 'a'", get, true},
		{"    q = (BASE / p).resolve()\n    q.relative_to(BASE)", "q.read_text()", true},
		{"    q = (BASE / p).resolve()\n    if BASE not in q.parents: raise ValueError()", "q.read_text()", true},
		{"    q = BASE / p\n    if not q.is_relative_to(BASE): raise ValueError()", "q.read_text()", false},
		{"    q = os.path.abspath(os.path.join(ROOT, p))\n    if not q.startswith(ROOT): raise ValueError()", "open(q)", false},
		{"    q = os.path.abspath(os.path.join(ROOT, p))\n    if not q.startswith(ROOT + '/'): raise ValueError()", "open(q)", true},
		{"    q = os.path.join(ROOT, p)\n    if not q.startswith(ROOT + '/'): raise ValueError()", "open(q)", false},
		{"    try:\n        check(p)\n    except ValueError:\n        return 1", opens, false},
	} {
		src := guarded(c.check, c.sink) + "\ndef check(x):\n    if len(x) > 3:\n        raise ValueError()\n"
		f := python.Language{}.Parse("server.py", []byte(src))
		if len(f.Unread) > 0 {
			t.Fatalf("%s: %+v", c.check, f.Unread)
		}
		found := 0
		res := analyzed(context.Background(), []*lang.File{f})
		for _, fl := range res.Flows {
			if !fl.Capability {
				found++
			}
		}
		if (found == 0) != c.holds {
			t.Errorf("%s\n before %s: %d flows, holds: %t", c.check, c.sink, found, c.holds)
		}
	}
}

// TestHostileSources holds that what is deep, long or calls itself ends soon.
func TestHostileSources(t *testing.T) {
	var calls, branches, chain strings.Builder
	for i := range 200 {
		fmt.Fprintf(&calls, "def f%d(a, b):\n    f%d(a, b)\n    f%d(b, a)\n    return f%d(a + 'x', b)\n", i, (i+1)%200, (i+7)%200, (i+3)%200)
		fmt.Fprintf(&branches, "    if p.x%d == q:\n        p%d = p + str(q)\n", i, i)
		fmt.Fprintf(&chain, "(a ? b : ")
	}
	var nested strings.Builder
	nested.WriteString("server.tool('t', {}, (a) => { let v0 = {x: a, y: a};\n")
	for i := range 60 {
		fmt.Fprintf(&nested, "const v%d = {x: v%d, y: v%d, z: {w: [v%d, v%d]}};\n", i+1, i, i, i, i)
	}
	nested.WriteString("exec(v60); fs.readFile(v60.x.y.x) })")
	head := "from mcp.server.fastmcp import FastMCP\nmcp = FastMCP('x')\n"
	for name, f := range map[string]*lang.File{
		"calls":     python.Language{}.Parse("a.py", []byte(head+calls.String()+"@mcp.tool()\ndef t(p: str, q: str):\n    return f0(p, q)\n")),
		"branches":  python.Language{}.Parse("a.py", []byte(head+"@mcp.tool()\ndef t(p: str, q: str):\n"+branches.String()+"    return p\n")),
		"callbacks": javascript.Language{}.Parse("a.js", []byte("server.tool('t', {}, (a) => "+strings.Repeat("f((b) => [a].some((c) => a.startsWith(c) && ", 60)+"a"+strings.Repeat("))", 60)+")")),
		"nested":    javascript.Language{}.Parse("a.js", []byte(nested.String())),
		"ternaries": javascript.Language{}.Parse("a.js", []byte("server.tool('t', {}, (a, b) => { const x = "+chain.String()+"a"+strings.Repeat(")", 200)+"; exec(x) })")),
	} {
		start := time.Now()
		res := analyzed(context.Background(), []*lang.File{f})
		if d := time.Since(start); d > 20*time.Second {
			t.Errorf("%s took %s, complete: %t", name, d, res.Complete)
		}
	}
}

// TestAnalyzeEndsWithItsContext holds that no work is begun for a caller who left.
func TestAnalyzeEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f := python.Language{}.Parse("server.py", []byte(guarded("    pass", "open(p)")))
	if res := analyzed(ctx, []*lang.File{f}); res.Complete || len(res.Flows) > 0 {
		t.Errorf("%+v", res)
	}
}

// FuzzAnalyze holds that no source ends the program, and that all places lie in it.
func FuzzAnalyze(f *testing.F) {
	f.Add(byte(0), guarded("    if p not in ALLOWED: raise ValueError()", "open(os.path.join(ROOT, p))"))
	f.Add(byte(1), "import {exec} from 'child_process'; server.tool('t', {a: z.string()}, async ({a}) => { if (/^[a-z]+$/.test(a)) exec(`x ${a}`) })")
	f.Add(byte(2), "package p\nfunc h(ctx context.Context, r mcp.CallToolRequest) { s.AddTool(t, h); exec.Command(\"sh\", \"-c\", r.GetString(\"a\", \"\")) }")
	f.Fuzz(func(t *testing.T, which byte, src string) {
		l := []lang.Language{python.Language{}, javascript.Language{}, golang.Language{}}[int(which)%3]
		name := []string{"a.py", "a.ts", "a.go"}[int(which)%3]
		res := analyzed(context.Background(), []*lang.File{l.Parse(name, []byte(src))})
		for _, fl := range res.Flows {
			if len(fl.Steps) == 0 || fl.Place.Start.Offset() < 0 || fl.Place.End.Offset() > len(src) {
				t.Fatalf("%+v", fl)
			}
		}
	})
}

// TestReplacements tells substitutions of every place from those of one.
func TestReplacements(t *testing.T) {
	for _, c := range []struct {
		name, change string
		holds        bool
	}{
		{"t.js", "p.replace(/[^a-z]/g, '')", true},
		{"t.js", "p.replace(/[^a-z]/gi, '')", true},
		{"t.js", "p.replace(/[^a-z]/, '')", false},
		{"t.js", "p.replace(/[^a-z]/i, '')", false},
		{"t.js", "p.replace(new RegExp('[^a-z]', 'g'), '')", true},
		{"t.js", "p.replace(new RegExp('[^a-z]'), '')", false},
		{"t.js", "p.replace(NOT, '')", true},
		{"t.js", "p.replace(FIRST, '')", false},
		{"t.js", "p.replaceAll(/[^a-z]/g, '')", true},
		{"t.js", "/^[a-z]+$/.test(p) ? p : ''", true},
		{"t.js", "/^[a-z]+$/m.test(p) ? p : ''", false},
		{"t.py", "re.sub('[^a-z]', '', p)", true},
		{"t.py", "re.sub('[^a-z]', '', p, 1)", false},
		{"t.py", "re.sub('[^a-z]', '', p, count=1)", false},
	} {
		src := "import { execSync } from 'child_process';\nconst NOT = /[^a-z]/g; const FIRST = /[^a-z]/;\nserver.registerTool('t', {}, ({ p }) => execSync('x ' + (" + c.change + ")));\n"
		if strings.HasSuffix(c.name, ".py") {
			src = guarded("    p = "+c.change, "os.system('x ' + p)")
		}
		res := analyzed(context.Background(), []*lang.File{parse(t, c.name, []byte(src))})
		if held := len(res.Flows) == 0; held != c.holds {
			t.Errorf("%s: held %t, want %t: %v", c.change, held, c.holds, res.Flows)
		}
	}
}

// analyzed is taint.Analyze of files.
func analyzed(ctx context.Context, files []*lang.File) *taint.Result {
	return taint.Analyze(ctx, sinks.NewPackage(files), files)
}
