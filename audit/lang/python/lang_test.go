package python

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// callees lists what the calls of a source may call, those of the file with a colon.
func callees(src string) string {
	var out []string
	for _, c := range lang.CalculateFacts(parse(src)).Calls {
		names := slices.Clone(c.Names)
		for _, o := range c.Own {
			names = append(names, ":"+o)
		}
		out = append(out, strings.Join(names, "|"))
	}
	return strings.Join(out, " ")
}

func TestCalleesAreResolved(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"import", "import os\nos.system(a)", "os.system"},
		{"import of a submodule", "import os.path\nos.path.join(a)", "os.path.join"},
		{"import as", "import subprocess as sp\nsp.run(a)", "subprocess.run"},
		{"from import as", "from subprocess import run as r\nr(a)", "subprocess.run"},
		{"relative import", "from .util import run\nfrom . import x\nrun(); x.y()", ".util.run .x.y"},
		{"assignment", "import os\nf = os.system\nf(a)", "os.system"},
		{"assignment of a module", "import os\nm = os\nm.system(a)", "os.system"},
		{"two assignments", "import os, subprocess\nf = os.system\nif a: f = subprocess.call\nf(b)", "os.system|subprocess.call"},
		{"alternatives", "import os\nf = os.popen if a else os.system\nf(b)\n(None or os.system)(c)", "os.popen|os.system os.system"},
		{"getattr", "import os\ngetattr(os, 'sys' + 'tem')(a)", "os.system getattr"},
		{"getattr with a name", "import os\nN = 'system'\ngetattr(os, N)(a)", "os.system getattr"},
		{"__import__", "__import__('o' 's').system(a)", "os.system __import__"},
		{"importlib", "import importlib as il\nm = il.import_module('subprocess')\nm.run(a)", "importlib.import_module subprocess.run"},
		{"globals", "import os\nglobals()['os'].system(a)", "os.system globals"},
		{"a module's dict", "import os\nos.__dict__['system'](a)\nvars(os)['popen'](b)", "os.system os.popen vars"},
		{"sys.modules", "import sys\nsys.modules['os'].system(a)", "os.system"},
		{"builtins", "import builtins as b\nb.eval(a)\ncompile(a)\n__builtins__['exec'](a)", "eval compile exec"},
		{"partial", "from functools import partial\nimport os\np = partial(os.system, a)\np()", "functools.partial os.system"},
		{"what is returned", "import requests\nwith requests.Session() as s: s.get(a)", "requests.Session requests.Session().get"},
		{"a path", "from pathlib import Path\n(Path(a) / 'b').read_text()", "pathlib.Path().read_text pathlib.Path"},
		{"an annotation", "from pathlib import Path\ndef f(p: Path): p.unlink()", "pathlib.Path().unlink"},
		{"an attribute of the instance", "import httpx\nclass A:\n def __init__(self): self.c = httpx.Client()\n def g(self): self.c.get(a); self.h()\n def h(self): pass", "httpx.Client httpx.Client().get :A.h"},
		{"own definitions", "def f(): pass\nclass A:\n def m(self): pass\nf(); A().m()", ":f :A.m :A"},
		{"own names hide builtins", "def open(a): pass\nopen(b)", ":open"},
		{"a parameter hides", "import os\ndef f(os): os.system(a)", ""},
		{"a local name hides", "import os\ndef f():\n for os in a: os.system(b)", ""},
		{"a class's names are not its methods'", "import os\nclass A:\n os = None\n def m(self): os.system(a)", "os.system"},
		{"a global", "import os\ndef f():\n global g; g = os.system\ndef h(): g(a)", "os.system"},
		{"a circle", "a = b; b = a; a(); b.c()", " "},
		{"a walrus", "import os\nif (f := os.system): f(a)", "os.system"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := callees(c.src); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestConstantsAreFolded(t *testing.T) {
	for src, want := range map[string]string{
		"'a' + 'b' 'c' + \"d\"":               "abcd",
		"'%s:%d %%' % ('a', 1)":               "a:1 %",
		"'%s' % 'a'":                          "a",
		"'{}-{}'.format('a', 'b')":            "a-b",
		"'{1}{0}'.format('a', 'b')":           "ba",
		"'.'.join(['a', 'b', 'c'])":           "a.b.c",
		"f'{\"a\"}b'":                         "ab",
		"chr(111) + chr(0x73)":                "os",
		"''.join(('a' + 'b', '%s' % ('c',)))": "abc",
		"b'a' + b'b'":                         "ab",
		"'%r' % a":                            "%r",
		"'a' + b":                             "a",
		"'%s' % ('a', 'b')":                   "%s a b",
		"'a' + b'b'":                          "a b",
	} {
		var got []string
		for _, c := range lang.CalculateConstants(parse("x(" + src + ")")) {
			got = append(got, c.Text)
		}
		if text := strings.Join(got, " "); text != want {
			t.Errorf("%s: %q, want %q", src, text, want)
		}
	}
}

func TestDefinitions(t *testing.T) {
	src := "def f():\n def g(): pass\nclass A:\n async def m(self): pass\n class B: pass\nh = lambda: 1\n"
	var got []string
	for _, d := range lang.CalculateFacts(parse(src)).Definitions {
		got = append(got, fmt.Sprintf("%s %s %d-%d", d.Kind, d.Name, d.Start.Line(), d.End.Line()))
	}
	want := "function f 1-2, function f.g 2-2, class A 3-5, method A.m 4-4, class A.B 5-5, function h 6-6"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("got %s, want %s", text, want)
	}
}

func TestReferences(t *testing.T) {
	var got []string
	for _, r := range lang.CalculateFacts(parse("import os\ndef f(): pass\nasyncio.to_thread(os.remove, a.b)\nrun(f, x=[os.system])\ny = os\n")).References {
		got = append(got, strings.Join(append(r.Names, r.Own...), "|"))
	}
	if text := strings.Join(got, " "); text != "os.remove a.b f os.system os" {
		t.Errorf("got %s", text)
	}
}

// Facts of what is built to take long are found in time.
func TestFactsAreBounded(t *testing.T) {
	var doubling, names strings.Builder
	doubling.WriteString("a0 = 'a' * 1\na0 = 'aaaa'\n")
	for i := range 5000 {
		fmt.Fprintf(&doubling, "a%d = a%d + a%d\nf(a%d)\n", i+1, i, i, i+1)
		fmt.Fprintf(&names, "a%d = a%d or b%d; ", i+1, i, i)
		fmt.Fprintf(&names, "b%d = a%d or b%d; a%d()\n", i+1, i, i, i+1)
	}
	for _, src := range []string{
		doubling.String(), names.String(), "a" + strings.Repeat(".b()", 4500), strings.Repeat("f(", 100) + strings.Repeat(")", 100),
		"x = " + strings.Repeat("'a' + ", 50_000) + "'a'", strings.Repeat("'%s' % (", 90) + "a" + strings.Repeat(",)", 90),
	} {
		f := parse(src)
		if len(f.Unread) > 0 {
			t.Fatalf("%.40q: %+v", src, f.Unread[0])
		}
		lang.CalculateFacts(f)
	}
}
