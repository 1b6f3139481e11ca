package audit

import (
	"strings"
	"testing"
)

// hostsOf are the hosts that the finding of a file names.
func hostsOf(t *testing.T, name, src string) string {
	t.Helper()
	r, err := Dir(t.Context(), write(t, map[string]string{name: src}))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.Rule == HostHardcoded {
			_, hosts, _ := strings.Cut(f.Evidence[0].Text, ": ")
			return hosts
		}
	}
	return ""
}

// A host is found where the address begins with a constant that has a name.
func TestHostsOfConstants(t *testing.T) {
	t.Parallel()
	const base = "const BASE = 'https://api.a.example';\n"
	const python = "import os, requests, httpx\nfrom urllib.parse import urljoin\nBASE = 'https://api.a.example/v1'\n"
	for _, c := range []struct{ name, src, want string }{
		{"a.js", base + "fetch(BASE + '/x')", "api.a.example"},
		{"a.js", base + "fetch(`${BASE}/x/${process.argv[2]}`)", "api.a.example"},
		{"a.js", base + "const url = new URL('/x', BASE); fetch(url)", "api.a.example"},
		{"a.js", base + "async function f(p) { const url = BASE + '/' + p; return await fetch(url.toString()) }", "api.a.example"},
		{"a.js", "const config = {base: 'https://api.a.example'}; fetch(config.base + '/x')", "api.a.example"},
		{"a.js", "const axios = require('axios'); const base = process.env.B || 'https://api.a.example'; axios.create({baseURL: base})", "api.a.example"},
		{"a.ts", "class C { base = 'https://api.a.example'; async g(p: string) { return fetch(`${this.base}/${p}`) } }", "api.a.example"},
		{"a.js", "const HOST = 'api.a.example'; fetch(`https://${HOST}/x`)", "api.a.example"},
		{"a.js", base + "fetch(BASE + process.argv[2])", ""},
		{"a.js", "let b = 'https://a.example'; b = process.argv[2]; fetch(b + '/x')", ""},
		{"a.js", "const R = 'https://ref.example/'; fetch(process.argv[2], {headers: {Referer: R}})", ""},
		{"a.js", "function f(base) { return fetch(base + '/x') }", ""},
		{"a.py", python + "requests.get(BASE + path)", "api.a.example"},
		{"a.py", python + "requests.get(BASE + '/' + path)", "api.a.example"},
		{"a.py", python + "requests.get(f'{BASE}/{path}')", "api.a.example"},
		{"a.py", python + "requests.get(urljoin(BASE, path))", "api.a.example"},
		{"a.py", python + "requests.get('%s/x' % BASE)", "api.a.example"},
		{"a.py", python + "requests.get('{}/{}'.format(BASE, path))", "api.a.example"},
		{"a.py", python + "B = os.getenv('B', BASE).rstrip('/')\nhttpx.request('GET', f'{B}/x')", "api.a.example"},
		{"a.py", python + "httpx.AsyncClient(base_url=BASE)", "api.a.example"},
		{"a.py", python + "class C:\n    def __init__(self):\n        self.base = BASE\n    def g(self, p):\n        return requests.get(self.base + '/' + p)\n", "api.a.example"},
		{"a.py", python + "H = '198.51.100.7'\nrequests.get(f'http://{H}:8080/x')", "198.51.100.7"},
		{"a.go", "package a\nimport (\"fmt\"; \"net/http\")\nconst base = \"https://api.a.example\"\nfunc f(p string) { http.Get(base + \"/\" + p); http.Get(fmt.Sprintf(\"%s/b/%s\", base, p)) }\n", "api.a.example"},
	} {
		if got := hostsOf(t, c.name, c.src+"\n"); got != c.want {
			t.Errorf("%s: %q, want %q", c.src, got, c.want)
		}
	}
}

// What is asked of a source is bounded, whatever its constants are made of.
func TestHostsOfHostileConstants(t *testing.T) {
	t.Parallel()
	src := "a0 = 'https://a.example/'\n"
	for i := range 2_000 {
		src += strings.ReplaceAll(strings.ReplaceAll("aN = f'{aM}{aM}{x}'\n", "N", strings.Repeat("1", i%7)+"2"), "M", strings.Repeat("1", (i+1)%7)+"2")
	}
	src += "import requests\n" + strings.Repeat("requests.get(a2 + x)\n", 2_000)
	if got := hostsOf(t, "a.py", src); got != "" {
		t.Error(got)
	}
}
