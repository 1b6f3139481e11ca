package config

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReferences(t *testing.T) {
	t.Parallel()
	const file = `{
  "inputs": [{"id": "key", "type": "promptString", "password": true}, {"id": "level", "type": "promptString", "default": "info"}],
  "servers": {
    "a": {
      "command": "${workspaceFolder}/run",
      "args": ["${input:level}", "x${userHome}y", "${workspaceFolder:lib}/z", "${env:SET}", "${UNSET:-none}", "${/}"],
      "cwd": "${workspaceFolder}/sub",
      "env": {"KEY": "${input:key}", "OTHER": "${input:undeclared}", "B": "{env:UNSET}", "C": "${{ secrets.C }}", "D": "$UNSET"}
    },
    "b": {"url": "https://${HOST_NAME}/mcp"},
    "c": {"command": "${__dirname}/c", "args": ["${user_config.dir}", "${command:pick}", "{folder}"]}
  }
}`
	const want = `a command 5:18 ${workspaceFolder} = "/work"
a args[0] 6:16 ${input:level} = "info"
a args[1] 6:34 ${userHome} = ""
a args[2] 6:51 ${workspaceFolder:lib}: which folder of a workspace is meant is not known
a args[3] 6:79 ${env:SET} = ""
a args[4] 6:93 ${UNSET:-none} = "none"
a args[5] 6:111 ${/} = "/"
a env.B 8:70 {env:UNSET}: the variable "UNSET" is not set
a env.C 8:90 ${{ secrets.C }}: the client's store of secrets has it
a env.KEY 8:15 ${input:key}: the client asks its user
a env.OTHER 8:38 ${input:undeclared}: no input of this name is declared
a cwd 7:14 ${workspaceFolder} = "/work"
b url 10:18 ${HOST_NAME}: the variable "HOST_NAME" is not set
c command 11:22 ${__dirname}: the bundle's directory is not known
c args[0] 11:49 ${user_config.dir}: the client asks its user
c args[1] 11:71 ${command:pick}: the client has the value: command
c args[2] 11:90 {folder}: the client asks its user
`
	servers, errs := Parse("mcp.json", []byte(file))
	if len(servers) != 3 || len(errs) > 0 {
		t.Fatalf("%d servers, %v", len(servers), errs)
	}
	c := Context{Workspace: "/work", IsSet: func(name string) bool { return name == "SET" }}
	var b strings.Builder
	for _, s := range servers {
		for _, r := range s.References(c) {
			fmt.Fprintf(&b, "%s %s %d:%d %s", s.Name, r.Where, r.Line, r.Column, r.Text)
			if r.Missing == "" {
				fmt.Fprintf(&b, " = %q\n", r.Value)
			} else {
				fmt.Fprintf(&b, ": %s\n", r.Missing)
			}
		}
	}
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Error(diff)
	}
	got := servers[0].Expanded(c).Command
	if diff := cmp.Diff([]string{"/work/run", "info", "x${userHome}y", "${workspaceFolder:lib}/z", "${env:SET}", "none", "/"}, got); diff != "" {
		t.Error(diff)
	}
	if dir := servers[0].Expanded(c).Dir; dir != "/work/sub" {
		t.Errorf("it starts in %s", dir)
	}
	if servers[0].Command[0] != "${workspaceFolder}/run" {
		t.Error("the entry itself was changed")
	}
}

func TestStart(t *testing.T) {
	t.Parallel()
	c := Context{Workspace: "/work", IsSet: func(string) bool { return true }}
	for dir, want := range map[string]string{
		"": "", "sub": "/work/sub", "./sub/..": "/work", "../beside": "/beside", "/abs/x/": "/abs/x", "${workspaceFolder}/sub": "/work/sub",
		"${userHome}/x": "not known", "${env:DIR}": "not known", "{env:DIR}/x": "not known", "${workspaceFolder:lib}": "not known",
	} {
		got, err := Server{Name: "a", Dir: dir}.Expanded(c).Start(c)
		if err != nil {
			got = "not known"
		}
		if got != want {
			t.Errorf("%q: %q, want %q (%v)", dir, got, want, err)
		}
	}
}

// Where an entry stands says nothing of what it is.
func TestSameAs(t *testing.T) {
	t.Parallel()
	one, _ := Parse("a.json", []byte(`{"mcpServers":{"a":{"command":"x","args":["1"]}}}`))
	moved, _ := Parse("a.json", []byte("\n\n{\"mcpServers\":{ \"a\": {\"args\":[ \"1\"],\"command\":\"x\"}}}"))
	other, _ := Parse("a.json", []byte(`{"mcpServers":{"a":{"command":"x","args":["2"]}}}`))
	if !one[0].SameAs(moved[0]) || one[0].SameAs(other[0]) {
		t.Error("an entry that was moved is another, or another one is the same")
	}
}

func TestHooks(t *testing.T) {
	t.Parallel()
	f := ParseFile("settings.json", []byte(`{"hooks": {
 "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "sh a.sh"}, {"type": "prompt", "prompt": "x"}]}],
 "stop": [{"command": "b"}]}, "statusLine": {"type": "command", "command": "c"}, "apiKeyHelper": "/bin/d"}`))
	var got []string
	for _, h := range f.Hooks {
		got = append(got, fmt.Sprintf("%s %d:%d %s", h.Event, h.Line, h.Column, h.Command))
	}
	if diff := cmp.Diff([]string{"PreToolUse 2:78 sh a.sh", "stop 3:23 b", "statusLine 3:76 c", "apiKeyHelper 3:98 /bin/d"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestUTF16IsReadAndToldOf(t *testing.T) {
	t.Parallel()
	text := `{"mcpServers":{"ä":{"command":"x"}}}`
	for name, order := range map[string][2]int{"little": {0, 1}, "big": {1, 0}} {
		data := make([]byte, 2)
		data[order[0]], data[order[1]] = 0xff, 0xfe
		for _, r := range text {
			two := make([]byte, 2)
			two[order[0]], two[order[1]] = byte(r), byte(r>>8)
			data = append(data, two...)
		}
		servers, errs := Parse("a.json", data)
		if len(servers) != 1 || servers[0].Name != "ä" || servers[0].Column != 16 || len(errs) != 1 || !strings.Contains(errs[0].Error(), "a.json:1:1: is UTF-16") {
			t.Errorf("%s endian: %+v, %v", name, servers, errs)
		}
	}
}

// Ten thousand entries are read, and of more those up to the bound.
func TestManyServers(t *testing.T) {
	t.Parallel()
	for _, n := range []int{10_000, maxServers + 5} {
		var b strings.Builder
		b.WriteString(`{"mcpServers":{"s":{"command":"x"}`)
		for i := range n - 1 {
			fmt.Fprintf(&b, `,"s%d":{"command":"x","args":["%d"]}`, i, i)
		}
		b.WriteString("}}")
		servers, errs := Parse("a.json", []byte(b.String()))
		if len(servers) != min(n, maxServers) || (len(errs) > 0) != (n > maxServers) {
			t.Errorf("of %d: %d servers, %v", n, len(servers), errs)
		}
	}
}
