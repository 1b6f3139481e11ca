package taint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
	"github.com/coalmine-dev/coalmine/audit/taint"
)

func guards(t *testing.T, name, src string) string {
	t.Helper()
	files := []*lang.File{parse(t, name, []byte(src))}
	if len(files[0].Unread) > 0 {
		t.Fatalf("%+v", files[0].Unread)
	}
	var out []string
	for _, g := range taint.AnalyzeGuards(t.Context(), sinks.NewPackage(files), files) {
		var asks []string
		for _, c := range g.Conditions {
			ask := fmt.Sprint(c.Parameter, " ", c.Test, " ", c.Text)
			if c.OneOf {
				ask += "…"
			}
			asks = append(asks, strings.TrimSpace(ask))
		}
		out = append(out, fmt.Sprintf("%s %s: %s", g.Tool, g.Sink, strings.Join(asks, ", ")))
	}
	return strings.Join(out, "; ")
}

func TestGuards(t *testing.T) {
	t.Parallel()
	const python = "import os, re, time, hashlib, hmac\nfrom datetime import datetime\nfrom typing import Literal\nfrom mcp.server.fastmcp import FastMCP\nmcp = FastMCP('x')\n@mcp.tool()\ndef t(p: str, n: int = 1, mode: Literal['a', 'b'] = 'a', q: str = ''):\n"
	for _, c := range []struct{ body, want string }{
		{"    os.system('ls')\n", ""},
		{"    if p == 'open sesame':\n        os.system('ls')\n", "t os.system: p equals open sesame"},
		{"    if p != 'open sesame':\n        return 1\n    os.system('ls')\n", "t os.system: p equals open sesame"},
		{"    if p != 'open sesame':\n        os.system('ls')\n", ""},
		{"    if p.strip().lower() == 'x1' and n == 4711:\n        os.system('ls')\n", "t os.system: p equals x1, n equals 4711"},
		{"    if p == 'x1' or q == 'x2':\n        os.system('ls')\n", "t os.system: p equals x1…"},
		{"    if p.endswith('.pdf'):\n        os.remove(q)\n", "t os.remove: p ends .pdf"},
		{"    if p.startswith('run:') and 'deep' in q:\n        eval(q)\n", "t eval: p begins run:, q contains deep"},
		{"    if n > 100 and len(p) > 30:\n        eval(q)\n", "t eval: n above 100, p longer 30"},
		{"    if mode == 'b':\n        os.system('ls')\n", ""},
		{"    if re.fullmatch(r'[a-z]{3}-[0-9]+', p):\n        os.system('ls')\n", "t os.system: p matches [a-z]{3}-[0-9]+"},
		{"    if p in ('red', 'green'):\n        os.system('ls')\n", "t os.system: p equals red…"},
		{"    match p:\n        case 'one':\n            os.system('ls')\n        case _:\n            pass\n", "t os.system: p equals one"},
		{"    if hashlib.sha256(p.encode()).hexdigest() == 'ab12':\n        os.system(q)\n", "t os.system: p digest ab12"},
		{"    if hmac.compare_digest(p, 'secret word'):\n        os.system(q)\n", "t os.system: p equals secret word"},
		{"    if datetime.now() > datetime(2027, 1, 1):\n        os.system('ls')\n", "t os.system: clock"},
		{"    if time.time() > 1798761600:\n        os.system('ls')\n", "t os.system: clock 1798761600"},
		{"    inner(p)\ndef inner(x):\n    if x == 'deep word':\n        sink()\ndef sink():\n    os.system('ls')\n", "t os.system: p equals deep word"},
		{"    if known(p):\n        os.system('ls')\ndef known(x):\n    return x == 'by function'\n", "t os.system: p equals by function"},
		{"    ok = p == 'by name'\n    if ok:\n        os.system('ls')\n", "t os.system: p equals by name"},
	} {
		if got := guards(t, "server.py", python+c.body); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.body, got, c.want)
		}
	}
	const js = "import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';\nimport { exec, execSync } from 'node:child_process';\nimport crypto from 'node:crypto';\nimport { z } from 'zod';\nconst s = new McpServer({});\ns.tool('t', { p: z.string(), n: z.number(), e: z.enum(['a']) }, async ({ p, n, e }) => {\n"
	for _, c := range []struct{ body, want string }{
		{"  if (p === 'open sesame') execSync('ls');\n", "t child_process.execSync: p equals open sesame"},
		{"  p === 'x1' && execSync('ls');\n", "t child_process.execSync: p equals x1"},
		{"  return n > 9 ? execSync('ls') : 1;\n", "t child_process.execSync: n above 9"},
		{"  if (e === 'a') execSync('ls');\n", ""},
		{"  if (!p.includes('needle')) return;\n  execSync('ls');\n", "t child_process.execSync: p contains needle"},
		{"  switch (p) { case 'go': execSync('ls'); break; default: }\n", "t child_process.execSync: p equals go"},
		{"  if (/^adm-\\d+$/.test(p)) execSync('ls');\n", "t child_process.execSync: p matches ^adm-\\d+$"},
		{"  if (crypto.createHash('sha256').update(p).digest('hex') === 'ff') execSync('ls');\n", "t child_process.execSync: p digest ff"},
		{"  if (Date.now() > 1798761600000) execSync('ls');\n", "t child_process.execSync: clock 1798761600000"},
		{"  if (new Date() > new Date('2027-01-01')) execSync('ls');\n", "t child_process.execSync: clock"},
		{"  if (p.length > 40) { [1].forEach(() => execSync('ls')); }\n", "t child_process.execSync: p longer 40"},
	} {
		if got := guards(t, "server.mjs", js+c.body+"});\n"); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.body, got, c.want)
		}
	}
	const raw = "import subprocess\ndef handle(m):\n    if m['method'] == 'tools/call':\n        name = m['params']['name']\n        arguments = m['params']['arguments']\n        if name == 'run':\n            if arguments.get('key') == 'magic one':\n                subprocess.run(['ls'])\n"
	if got := guards(t, "server.py", raw); got != "run subprocess.run: key equals magic one" {
		t.Errorf("raw: %s", got)
	}
	const goSource = "package main\nimport (\n\t\"context\"\n\t\"os/exec\"\n\t\"strings\"\n\t\"github.com/mark3labs/mcp-go/mcp\"\n\t\"github.com/mark3labs/mcp-go/server\"\n)\nfunc main() {\n\ts := server.NewMCPServer(\"x\", \"1\")\n\ts.AddTool(mcp.NewTool(\"t\"), handle)\n}\nfunc handle(ctx context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {\n\tp := r.GetString(\"p\", \"\")\n\tif strings.HasPrefix(p, \"adm:\") {\n\t\texec.Command(\"ls\").Run()\n\t}\n\treturn nil, nil\n}\n"
	if got := guards(t, "main.go", goSource); got != "t os/exec.Command: p begins adm:" {
		t.Errorf("Go: %s", got)
	}
}

// A path is told by what its sink does, and by the extension that its file has in any case.
func TestEndings(t *testing.T) {
	t.Parallel()
	for sink, want := range map[string]string{
		"open(os.path.join(ROOT, p)).read()":                              "reads ",
		"open(os.path.join(ROOT, p + '.md')).read()":                      "reads .md",
		"open(os.path.join(ROOT, p, 'note.txt')).read()":                  "reads .txt",
		"open(os.path.join(ROOT, p + '.md'), 'w')":                        " .md",
		"open(os.path.join(ROOT, (p + '.md')[:-3]))":                      "reads ",
		"os.listdir(os.path.join(ROOT, p))":                               "lists ",
		"open(os.path.join(ROOT, p if p.endswith('.md') else p + '.md'))": "reads .md",
	} {
		f := parse(t, "server.py", []byte(guarded("    pass", sink)))
		res := analyzed(t.Context(), []*lang.File{f})
		if len(res.Flows) != 1 {
			t.Errorf("%s: %d flows", sink, len(res.Flows))
			continue
		}
		if got := fmt.Sprint(res.Flows[0].Does, " ", res.Flows[0].Ending); got != want {
			t.Errorf("%s: %q, want %q", sink, got, want)
		}
	}
}
