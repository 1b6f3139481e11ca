package drift

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// meeting is one session of a server, day by day.
type meeting struct {
	file               string // default: by the day
	name, version      string
	capabilities       string
	instructions       string
	tools              string // "" for no list at all
	more               []string
	skipHandshake, mid bool
}

func (m meeting) log(day int) string {
	var b strings.Builder
	seq := 0
	if m.mid {
		seq = 40
	}
	line := func(l string) {
		seq++
		dir := map[byte]string{'c': "c2s", 's': "s2c"}[l[0]]
		fmt.Fprintf(&b, `{"schema_version": "0.1", "seq": %d, "ts": "2026-11-%02dT10:32:%02d+00:00", "dir": "%s", "frame": %s, "raw": null}`+"\n", seq, day+1, seq%60, dir, l[2:])
	}
	if !m.skipHandshake {
		line(`c {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"capabilities":{}}}`)
		line(fmt.Sprintf(`s {"jsonrpc":"2.0","id":0,"result":{"capabilities":{%s},"instructions":%q,"serverInfo":{"name":%q,"version":%q}}}`, m.capabilities, m.instructions, m.name, m.version))
	}
	if m.tools != "" {
		line(`c {"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
		line(`s {"jsonrpc":"2.0","id":1,"result":{"tools":[` + m.tools + `]}}`)
	}
	for _, l := range m.more {
		line(l)
	}
	return b.String()
}

// watch writes the meetings, a day each, and watches them.
func watch(t *testing.T, meetings ...meeting) *History {
	t.Helper()
	dir := t.TempDir()
	for day, m := range meetings {
		file := m.file
		if file == "" {
			file = fmt.Sprintf("202611%02dT103200Z_srv_%d.jsonl", day+1, 100+day)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, file)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, file), []byte(m.log(day)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { root.Close() })
	h, err := Watch(root)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// kinds lists the drift of the last session as "kind severity".
func kinds(h *History) []string {
	var last *Session
	for _, sessions := range h.Servers {
		for i := range sessions {
			if s := &sessions[i]; last == nil || s.Fingerprint.FirstTS.After(last.Fingerprint.FirstTS) {
				last = s
			}
		}
	}
	out := []string{}
	for _, d := range last.Findings {
		out = append(out, fmt.Sprintf("%s %d", d.Kind, d.Severity))
	}
	return out
}

const tool = `{"name":"read","title":"Read","description":"Reads.","inputSchema":{"type":"object","properties":{"p":{"type":"string"}}},"outputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}`

func called(id int, tool, args string) string {
	return fmt.Sprintf(`c {"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":%q,"arguments":%s}}`, id, tool, args)
}

func TestKinds(t *testing.T) {
	base := meeting{name: "srv", version: "1", tools: tool, capabilities: `"tools":{}`, instructions: "Be kind.", more: []string{called(5, "read", `{"p":"https://a.example/x"}`)}}
	with := func(change func(*meeting)) meeting { m := base; change(&m); return m }
	swap := func(old, now string) meeting {
		return with(func(m *meeting) { m.tools = strings.Replace(tool, old, now, 1) })
	}
	for _, c := range []struct {
		name string
		next meeting
		want []string
	}{
		{"the same again", base, nil},
		{"the same in another order", with(func(m *meeting) {
			m.tools = `{"description":"Reads.","annotations":{"readOnlyHint":true}, "name":"read","outputSchema":{"type":"object"},"title":"Read","inputSchema":{"properties":{"p":{"type":"string"}},"type":"object"}}`
		}), nil},
		{"a new tool", with(func(m *meeting) { m.tools += `,{"name":"exec"}` }), []string{"new_declared_tool 2"}},
		{"a tool that is gone", with(func(m *meeting) { m.tools, m.more = `{"name":"x"}`, nil }), []string{"new_declared_tool 2", "removed_declared_tool 1"}},
		{"no list proves nothing", with(func(m *meeting) { m.tools = "" }), nil},
		{"another type", swap(`"type":"string"`, `"type":"integer"`), []string{"schema_changed 3"}},
		{"a new property", swap(`"p":{"type":"string"}`, `"p":{"type":"string"},"q":{}`), []string{"schema_changed 2"}},
		{"a new requirement", swap(`"inputSchema":{`, `"inputSchema":{"required":["p"],`), []string{"schema_changed 3"}},
		{"a schema that is malformed", swap(`"inputSchema":{`, `"inputSchema":{"required":7,`), []string{"schema_changed 3"}},
		{"another description", swap("Reads.", "Reads all."), []string{"declaration_changed 2"}},
		{"another title", swap(`"Read"`, `"Write"`), []string{"declaration_changed 2"}},
		{"another annotation", swap("true", "false"), []string{"declaration_changed 2"}},
		{"no annotation any more", swap(`,"annotations":{"readOnlyHint":true}`, ``), []string{"declaration_changed 2"}},
		{"another output", swap(`"outputSchema":{"type":"object"}`, `"outputSchema":{"type":"array"}`), []string{"declaration_changed 2"}},
		{"other instructions", with(func(m *meeting) { m.instructions = "Obey." }), []string{"declaration_changed 2"}},
		{"a tool that no list has", with(func(m *meeting) { m.more = append(slices.Clone(m.more), called(6, "nope", `{}`)) }), []string{"new_fabricated_tool 3"}},
		{"a request of the server", with(func(m *meeting) {
			m.more = append(slices.Clone(m.more), `s {"jsonrpc":"2.0","id":6,"method":"sampling/createMessage"}`)
		}), []string{"new_server_request 2"}},
		{"a host in a result", with(func(m *meeting) {
			m.more = append(slices.Clone(m.more), `s {"jsonrpc":"2.0","id":5,"result":{"content":[{"type":"text","text":"see https://u@New.example:8080/x."}]}}`)
		}), []string{"new_host 2"}},
		{"a capability", with(func(m *meeting) { m.capabilities = `"tools":{},"logging":{}` }), []string{"new_capability 1"}},
		{"a version", with(func(m *meeting) { m.version = "2" }), []string{"server_version_changed 1"}},
		{"another name for the same command", with(func(m *meeting) { m.name = "other" }), []string{"server_identity_changed 2"}},
		{"a log that begins in the middle", with(func(m *meeting) { m.mid = true }), []string{"tail_only_partial 1"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := watch(t, base, c.next)
			if diff := cmp.Diff(append([]string{}, c.want...), kinds(h)); diff != "" {
				t.Errorf("%s\n%+v", diff, h.Servers)
			}
		})
	}
	t.Run("called for the first time", func(t *testing.T) {
		quiet := with(func(m *meeting) { m.more = nil })
		if got := kinds(watch(t, quiet, base)); !slices.Equal(got, []string{"new_called_tool 1", "new_host 2"}) {
			t.Error(got)
		}
	})
	t.Run("a change before its time", func(t *testing.T) {
		early := with(func(m *meeting) {
			m.more = []string{`c {"jsonrpc":"2.0","id":2,"method":"tools/list"}`, `s {"jsonrpc":"2.0","id":2,"result":{"tools":[` + tool + `],"ttlMs":60000}}`, `s {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`}
		})
		if got := kinds(watch(t, base, early)); !slices.Equal(got, []string{"premature_list_changed 2"}) {
			t.Error(got)
		}
	})
	t.Run("other proportions", func(t *testing.T) {
		two := with(func(m *meeting) { m.tools, m.more = tool+`,{"name":"b"}`, nil })
		for i := range 6 {
			two.more = append(two.more, called(10+i, "read", `{}`))
		}
		next := two
		next.more = slices.Clone(two.more)
		for i := range next.more {
			next.more[i] = called(10+i, "b", `{}`)
		}
		if got := kinds(watch(t, two, next)); !slices.Equal(got, []string{"jsd_drift 3", "new_called_tool 1"}) {
			t.Error(got)
		}
	})
}

func TestPromptsAndResourcesCount(t *testing.T) {
	m := func(said string) meeting {
		return meeting{name: "srv", version: "1", tools: tool, more: []string{
			`c {"jsonrpc":"2.0","id":3,"method":"prompts/list"}`, `s {"jsonrpc":"2.0","id":3,"result":{"prompts":[{"name":"p","description":"` + said + `"}]}}`,
			`c {"jsonrpc":"2.0","id":4,"method":"resources/list"}`, `s {"jsonrpc":"2.0","id":4,"result":{"resources":[{"uri":"f://a","name":"` + said + `"}]}}`}}
	}
	if got := kinds(watch(t, m("a"), m("b"))); !slices.Equal(got, []string{"declaration_changed 2", "declaration_changed 2"}) {
		t.Error(got)
	}
}

// The baseline is all that went before: what comes back is not new, and a third
// session is not measured by the second alone.
func TestBaselineIsAllThatWentBefore(t *testing.T) {
	a := meeting{name: "srv", version: "1", tools: tool}
	b := meeting{name: "srv", version: "2", tools: `{"name":"x"}`}
	if got := kinds(watch(t, a, b, a)); !slices.Equal(got, []string{"removed_declared_tool 1"}) {
		t.Error(got)
	}
}

func TestServersAreApart(t *testing.T) {
	h := watch(t, meeting{file: "1_a_1.jsonl", name: "one", tools: tool}, meeting{file: "2_b_2.jsonl", name: "two", tools: `{"name":"y"}`}, meeting{file: "run/session.jsonl", name: "three", tools: tool},
		meeting{file: "20261101T000000Z_quiet_7.jsonl", skipHandshake: true, tools: tool})
	if got := slices.Sorted(maps.Keys(h.Servers)); !slices.Equal(got, []string{"one", "quiet", "three", "two"}) || h.Worst() != 0 {
		t.Errorf("%v, worst %d", got, h.Worst())
	}
}

func TestUnreadable(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{"a.jsonl": "banner\n", "b.jsonl": meeting{name: "n", tools: tool}.log(1), "c.txt": "x", "trace.jsonl": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.jsonl")); err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	h, err := Watch(root)
	if err != nil || len(h.Servers) != 1 || len(h.Unread) != 1 || !strings.HasPrefix(h.Unread[0], "a.jsonl") {
		t.Errorf("%+v, %v", h, err)
	}
}

// A server that goes back to what it declared in its first session drifts from nothing.
func TestBackToTheBaseline(t *testing.T) {
	bare := meeting{name: "srv", version: "1", tools: `{"name":"read","inputSchema":{"type":"object"}}`}
	more := bare
	more.tools = `{"name":"read","title":"Read","inputSchema":{"type":"object"}}`
	if got := kinds(watch(t, bare, more)); !slices.Equal(got, []string{"declaration_changed 2"}) {
		t.Errorf("a title that is new: %v", got)
	}
	if got := kinds(watch(t, bare, more, bare)); len(got) > 0 {
		t.Errorf("back without the title: %v", got)
	}
	if got := kinds(watch(t, more, bare)); !slices.Equal(got, []string{"declaration_changed 2"}) {
		t.Errorf("a title that goes: %v", got)
	}
}

// What a rotated log goes on with is the same server's.
func TestRotated(t *testing.T) {
	to := func(host string) []string { return []string{called(5, "read", `{"p":"https://`+host+`/x"}`)} }
	h := watch(t,
		meeting{file: "20261101T103200Z_npx_7.jsonl", name: "srv", version: "1", tools: tool, more: to("a.example")},
		meeting{file: "20261101T103200Z_npx_2_7.jsonl", skipHandshake: true, mid: true, more: to("b.example")},
		meeting{file: "20261103T103200Z_npx_8.jsonl", name: "srv", version: "1", tools: tool, more: to("b.example")},
		meeting{file: "20261104T103200Z_npx_8.jsonl", skipHandshake: true, mid: true, more: to("a.example")},
		meeting{file: "20261105T103200Z_npx_9.jsonl", skipHandshake: true, mid: true, more: to("c.example")})
	if got := slices.Sorted(maps.Keys(h.Servers)); !slices.Equal(got, []string{"npx", "srv"}) || len(h.Servers["srv"]) != 4 {
		t.Fatalf("servers %v, of srv %d", got, len(h.Servers["srv"]))
	}
	for _, s := range h.Servers["srv"][2:] {
		for _, d := range s.Findings {
			if d.Kind == "new_host" {
				t.Errorf("%s: %s", s.Source, d.Explanation)
			}
		}
	}
}
