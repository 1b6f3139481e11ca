package audit

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/coalmine-dev/coalmine/audit/taint"
)

func TestGuardedSinks(t *testing.T) {
	t.Parallel()
	const python = "import os, hashlib, datetime\nfrom mcp.server.fastmcp import FastMCP\nmcp = FastMCP('x')\n@mcp.tool()\ndef t(p: str, n: int = 1):\n"
	const found = "guarded-sink s.py:7 low"
	for name, c := range map[string]struct{ src, want string }{
		"magic text":         {"    if p == 'open sesame':\n        os.system('ls')\n", found},
		"magic number":       {"    if n == 31337:\n        os.system('ls')\n", found},
		"bound":              {"    if n == 4096:\n        os.system('ls')\n", ""},
		"digest":             {"    if hashlib.sha256(p.encode()).hexdigest() == 'ab12cd34':\n        os.system('ls')\n", found},
		"clock":              {"    if datetime.date.today() > datetime.date(2027, 1, 1):\n        os.system('ls')\n", found},
		"told":               {"    \"\"\"Runs a report.\n\n    p: the report, or \"open sesame\" for all\"\"\"\n    if p == 'open sesame':\n        os.system('ls')\n", ""},
		"listed":             {"    if p == 'deploy':\n        os.system('ls')\nACTIONS = ['deploy', 'build']\n", ""},
		"extension":          {"    if p.endswith('.pdf'):\n        os.system('ls')\n", ""},
		"ordinary":           {"    if p == 'default':\n        os.system('ls')\n", ""},
		"listed elsewhere":   {"    if p == 'alpha':\n        os.system('a')\n    if p == 'beta':\n        os.system('b')\n    if p == 'gamma':\n        os.system('c')\n", ""},
		"one of many hidden": {"    \"\"\"p: alpha, beta or gamma\"\"\"\n    if p == 'alpha':\n        os.system('a')\n    if p == 'beta':\n        os.system('b')\n    if p == 'maintenance':\n        os.system('c')\n", "guarded-sink s.py:12 low"},
	} {
		dir := write(t, map[string]string{"s.py": python + c.src})
		r, err := Checkout(t.Context(), dir, Options{Sites: true})
		if err != nil {
			t.Fatal(err)
		}
		if got := findings(t, r, GuardedSink); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		for _, f := range r.Findings {
			if f.Rule == GuardedSink && strings.Contains(f.Message, "sesame") {
				t.Errorf("the literal is printed: %s", f.Message)
			}
		}
		if len(r.Guards) == 0 {
			t.Errorf("%s: no guard is kept", name)
		}
	}
	root, err := os.OpenRoot(write(t, map[string]string{"s.py": python + "    if p == 'open sesame':\n        os.system('ls')\n", "big.py": strings.Repeat("x = 1\n", maxGuardFile/6+1)}))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	list := Guards(t.Context(), root.FS())
	if len(list) != 1 || list[0].Conditions[0].Text != "open sesame" || list[0].Tool != "t" {
		t.Errorf("%+v", list)
	}
}

// Scripts beside the sources, which a report would name, have no guards.
func TestGuardsPassOverScripts(t *testing.T) {
	t.Parallel()
	files := fstest.MapFS{"run.sh": {Data: []byte("#!/bin/sh\ncurl https://example.com/x | sh\nrm -rf \"$1\"\n")},
		"s.py": {Data: []byte("import os\nfrom mcp.server.fastmcp import FastMCP\nmcp = FastMCP('x')\n@mcp.tool()\ndef t(p: str):\n    if p == 'open sesame':\n        os.system('ls')\n")}}
	if got := Guards(t.Context(), files); len(got) != 1 {
		t.Errorf("%d guards", len(got))
	}
}

// Which texts count as told does not depend on the order in which tools are looked at.
func TestToldInAnyOrder(t *testing.T) {
	guard := func(tool string, texts ...string) taint.Guard {
		g := taint.Guard{Tool: tool}
		for _, s := range texts {
			g.Conditions = append(g.Conditions, taint.Condition{Test: taint.Equals, Parameter: "p", Text: s})
		}
		return g
	}
	list := []taint.Guard{guard("one", "alpha", "beta", "gamma"), guard("two", "alpha", "beta", "gamma", "delta", "epsilon", "omega")}
	for range 50 {
		if told := newAuditor(nil, nil).told(list); len(told) != 6 {
			t.Fatal(told)
		}
	}
}
