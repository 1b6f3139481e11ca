package config

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// render is one line for each server and error.
func render(servers []Server, errs []error) string {
	var b strings.Builder
	for _, s := range servers {
		fmt.Fprintf(&b, "%d:%d %q %q", s.Line, s.Column, s.Name, s.Command)
		if len(s.Env) > 0 {
			fmt.Fprintf(&b, " env %v", s.Env)
		}
		if s.Dir != "" {
			fmt.Fprintf(&b, " in %q at %d:%d", s.Dir, s.At.Dir.Line, s.At.Dir.Column)
		}
		if s.URL != "" {
			fmt.Fprintf(&b, " url %s", s.URL)
		}
		fmt.Fprintf(&b, " %s", s.Kind)
		if s.Package != "" {
			fmt.Fprintf(&b, " %s", s.Package)
		}
		if s.Disabled {
			b.WriteString(" disabled")
		}
		b.WriteString("\n")
	}
	for _, err := range errs {
		fmt.Fprintf(&b, "error: %v\n", err)
	}
	return b.String()
}

// TestFiles parses each client's file in testdata and compares the outcome
// with the .golden beside it; COALMINE_UPDATE=1 writes them.
func TestFiles(t *testing.T) {
	files, err := filepath.Glob("testdata/*")
	if err != nil || len(files) < 10 {
		t.Fatalf("%v %v", files, err)
	}
	for _, file := range files {
		if strings.HasSuffix(file, ".golden") {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := render(Parse(filepath.Base(file), data))
			golden := file + ".golden"
			if os.Getenv("COALMINE_UPDATE") == "1" {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Error(diff)
			}
			crlf := strings.ReplaceAll(string(data), "\n", "\r\n")
			if diff := cmp.Diff(string(want), render(Parse(filepath.Base(file), []byte("\ufeff"+crlf)))); diff != "" {
				t.Errorf("with a byte order mark and CRLF: %s", diff)
			}
		})
	}
}

func TestBadFiles(t *testing.T) {
	for _, tc := range []struct {
		name, path, data, says string
		servers                int
	}{
		{"empty", "a.json", "", "unexpected EOF", 0},
		{"no servers", "a.json", "{}", ErrNoServers.Error(), 0},
		{"an array", "a.json", "[1]", ErrNoServers.Error(), 0},
		{"none configured", "a.json", `{"mcpServers":{}}`, "", 0},
		{"null", "a.json", `{"mcpServers":null}`, "", 0},
		{"a string", "a.json", `{"mcpServers":"x"}`, "a.json:1:15: mcpServers holds no servers", 0},
		{"another file's servers", "openapi.json", `{"servers":[{"url":"https://a"}]}`, ErrNoServers.Error(), 0},
		{"syntax", "a.json", "{\n  \"mcpServers\": {]}", "a.json:2:18: ", 0},
		{"half a string", "a.json", `{"mcpServers":{"a":{"env":{"KEY":"sk-SECRET`, "unexpected EOF", 0},
		{"a bad escape", "a.json", `{"mcpServers":{"a":{"env":{"KEY":"sk-SECRET\q"}}}}`, "a.json:1:34: invalid literal", 0},
		{"a bare word", "a.json", `{"mcpServers":{"a":{"env":{"KEY":SECRET}}}}`, "a.json:1:", 0},
		{"deep", "a.json", strings.Repeat("[", 5_000_000), "nests deeper", 0},
		{"brackets in strings and comments", "a.json", `{/*` + strings.Repeat("[", 300) + "*/\n//" + strings.Repeat("{", 300) + "\n" + `"x\\\"":"` + strings.Repeat("[", 300) + `","mcpServers":{"a":{"command":"x"}}}`, "", 1},
		{"large", "a.json", strings.Repeat(" ", maxJSON+1), "too large", 0},
		{"large TOML", "a.toml", strings.Repeat(" ", maxOther+1), "too large", 0},
		{"TOML syntax", "a.toml", "[mcp_servers.a]\ncommand='x'\n[mcp_servers.b]\ncommand=\"SECRET\n", "a.toml:", 1},
		{"TOML redefined", "a.toml", "mcp_servers=1\n[mcp_servers.a]\ncommand='x'\n", ErrNoServers.Error(), 0},
		{"deep TOML", "a.toml", "a=" + strings.Repeat("[", 500_000), "nested more than", 0},
		{"deep dotted TOML", "a.toml", strings.Repeat("a.", 100_000) + "a=1", ErrNoServers.Error(), 0},
		{"YAML syntax", "a.yaml", "mcpServers:\n  - name: a\n   command: SECRET\n", "a.yaml:3:", 0},
		{"YAML anchor", "a.yaml", "extensions:\n  a: *SECRET\n", "unknown anchor", 0},
		{"YAML cycle", "a.yaml", "extensions: &a\n  a: {command: x, args: *a}\n  b: [*a, *a, *a]\n", "args is not a list", 0},
		{"deep YAML", "a.yaml", strings.Repeat("[", 50_000), "", 0},
		{"YAML bomb", "a.yaml", "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c]\ne: &e [*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*e,*e,*e,*e,*e,*e,*e,*e]\nextensions: {a: {cmd: x}}\n", "", 1},
		{"YAML bomb among the servers", "a.yaml", "extensions:\n  a: {cmd: x}\n  b: &b [x,x,x,x,x,x,x,x]\n  c: &c [*b,*b,*b,*b,*b,*b,*b,*b]\n  d: &d [*c,*c,*c,*c,*c,*c,*c,*c]\n  e: &e [*d,*d,*d,*d,*d,*d,*d,*d]\n  f: &f [*e,*e,*e,*e,*e,*e,*e,*e]\n  g: [*f,*f,*f,*f,*f,*f,*f,*f]\n", "grows to more", 1},
		{"binary", "a", "\x00\x01\xff\xfe", "", 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			start := time.Now()
			servers, errs := Parse(tc.path, []byte(tc.data))
			err := errors.Join(errs...)
			if tc.says == "" && tc.servers > 0 && err != nil {
				t.Errorf("got %v", err)
			}
			if tc.says != "" && (err == nil || !strings.Contains(err.Error(), tc.says)) {
				t.Errorf("got %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "SECRET") {
				t.Errorf("a value was repeated: %v", err)
			}
			if len(servers) != tc.servers {
				t.Errorf("got %s", render(servers, errs))
			}
			if d := time.Since(start); d > 5*time.Second {
				t.Errorf("took %s", d)
			}
		})
	}
}

func TestManyErrorsAreBounded(t *testing.T) {
	var b strings.Builder
	b.WriteString(`{"mcpServers":{"good":{"command":"x"}`)
	for i := range 1000 {
		fmt.Fprintf(&b, `,"bad\u001b[31m%d":[]`, i)
	}
	b.WriteString(`}}`)
	servers, errs := Parse("a.json", []byte(b.String()))
	if len(servers) != 1 || len(errs) != maxErrors+1 || !strings.Contains(errs[maxErrors].Error(), "and 900 more errors") {
		t.Errorf("%d servers, %d errors, last %v", len(servers), len(errs), errs[len(errs)-1])
	}
	if strings.Contains(errs[0].Error(), "\x1b") {
		t.Errorf("unescaped: %q", errs[0])
	}
	var e *Error
	if !errors.As(errs[0], &e) || e.Line != 1 || e.Path != "a.json" {
		t.Errorf("got %+v", e)
	}
}

func TestFromArg(t *testing.T) {
	one := []Server{{Name: "a"}}
	two := []Server{{Name: "a", Line: 1}, {Name: "b\x1b"}, {Name: "a", Line: 3}}
	for _, tc := range []struct {
		servers []Server
		name    string
		line    int
		says    string
	}{
		{nil, "a", 0, "no MCP servers"},
		{one, "", 0, ""},
		{one, "a", 0, ""},
		{one, "c", 0, `no server "c" is configured; there are: "a"`},
		{two, "", 0, `3 servers are configured, name one of them: "a", "b\x1b", "a"`},
		{two, "a", 3, ""},
		{make([]Server, 30), "x", 0, "and 10 more"},
	} {
		s, err := FromArg(tc.servers, tc.name)
		if (err == nil) != (tc.says == "") || err != nil && !strings.Contains(err.Error(), tc.says) || s.Line != tc.line {
			t.Errorf("%q: %+v, %v", tc.name, s, err)
		}
	}
}

func TestRecognize(t *testing.T) {
	for _, tc := range []struct {
		command string
		kind    Kind
		pkg     string
	}{
		{"", KindCommand, ""},
		{"npx", KindCommand, ""},
		{"npx -y @modelcontextprotocol/server-filesystem@2025.3.28 /data", KindNPM, "@modelcontextprotocol/server-filesystem@2025.3.28"},
		{"/usr/local/bin/npx --yes pkg", KindNPM, "pkg"},
		{`C:\node\npx.cmd -y pkg`, KindNPM, "pkg"},
		{"cmd /c npx -y pkg", KindNPM, "pkg"},
		{"cmd.exe /C cmd /c npx pkg", KindNPM, "pkg"},
		{"npx -y -- pkg --flag", KindNPM, "pkg"},
		{"npx -y --package=real bin", KindNPM, "real"},
		{"npx -p real -y bin", KindNPM, "real"},
		{"npx -p", KindCommand, ""},
		{"npx --unheard-of pkg", KindCommand, ""},
		{"npx -c run", KindCommand, ""},
		{"npm exec -- pkg", KindNPM, "pkg"},
		{"npm start", KindCommand, ""},
		{"pnpm dlx pkg", KindNPM, "pkg"},
		{"bunx --bun pkg", KindNPM, "pkg"},
		{"uvx mcp-server-time --local-timezone X", KindPyPI, "mcp-server-time"},
		{"uvx --from git+https://h/r tool", KindPyPI, "git+https://h/r"},
		{"uvx --with a --python 3.12 --from pkg==1.0 tool", KindPyPI, "pkg==1.0"},
		{"uvx --from=pkg tool", KindPyPI, "pkg"},
		{"uv tool run pkg", KindPyPI, "pkg"},
		{"uv run server.py", KindCommand, ""},
		{"pipx run --spec pkg tool", KindPyPI, "pkg"},
		{"docker run -i --rm mcp/fetch", KindOCI, "mcp/fetch"},
		{"docker run -it -e KEY --mount type=bind,src=/a,dst=/b -v/a:/b --name=x -pq 80:80 img@sha256:00 arg", KindOCI, "80:80"},
		{"docker run -dite KEY --env=A=b --network none img arg", KindOCI, "img"},
		{"podman container run --rm img", KindOCI, "img"},
		{"docker run -e", KindCommand, ""},
		{"docker run -- img", KindOCI, "img"},
		{"docker compose up", KindCommand, ""},
		{"node /x/npx", KindCommand, ""},
		{"python3 -m mcp_server_time", KindCommand, ""},
	} {
		kind, pkg := Recognize(strings.Fields(tc.command))
		if kind != tc.kind || pkg != tc.pkg {
			t.Errorf("%s: got %s %q", tc.command, kind, pkg)
		}
	}
}

func FuzzParse(f *testing.F) {
	files, _ := filepath.Glob("testdata/*")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(filepath.Ext(file), data)
	}
	f.Fuzz(func(t *testing.T, ext string, data []byte) {
		servers, errs := Parse("f"+ext, data)
		lines := strings.Count(string(data), "\n") + strings.Count(string(data), "\r") + strings.Count(string(data), "\u0085") + strings.Count(string(data), "\u2028") + strings.Count(string(data), "\u2029") + 1
		for _, s := range servers {
			if s.Line < 1 || s.Line > lines || s.Column < 1 || len(s.Command) == 0 && s.URL == "" || s.Kind == "" {
				t.Errorf("%+v of %d lines", s, lines)
			}
		}
		if len(errs) > maxErrors+1 {
			t.Errorf("%d errors", len(errs))
		}
	})
}
