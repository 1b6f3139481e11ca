package analyze

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// said reads lines "c MESSAGE" and "s MESSAGE" of a run's wire.
func said(lines ...string) *wireReader {
	w := newWireReader(profile.NewBuilder(profile.Context{}), &timelineBuilder{plain: func(_ uint64, b []byte) string { return string(b) }})
	for i, l := range lines {
		f := session.Frame{Seq: uint64(i + 1), Dir: session.C2S, Message: json.RawMessage(strings.Replace(l[2:], "{", `{"jsonrpc":"2.0",`, 1))}
		if l[0] == 's' {
			f.Dir = session.S2C
		}
		msgs, err := wire.Parse(f.Message)
		w.frame(&f, msgs, err)
	}
	return w
}

// The surface of a run is what its client took for declared: each list's first
// listing, all of its pages.
func TestSurfaceOfARun(t *testing.T) {
	ask := func(id int, list, cursor string) string {
		return fmt.Sprintf(`c {"id":%d,"method":"%s/list","params":{"cursor":%q}}`, id, list, cursor)
	}
	give := func(id int, list, entries, next string) string {
		return fmt.Sprintf(`s {"id":%d,"result":{%q:[%s],"nextCursor":%q}}`, id, list, entries, next)
	}
	for _, c := range []struct {
		name  string
		lines []string
		want  string // counts of tools, resources and prompts, and the changes
	}{
		{"nothing", nil, "0 0 0"},
		{"pages", []string{ask(1, "tools", ""), give(1, "tools", `{"name":"a"}`, "x"), ask(2, "tools", "x"), give(2, "tools", `{"name":"b"}`, "")}, "2 0 0"},
		{"tools without an end", []string{ask(1, "tools", ""), give(1, "tools", `{"name":"a"}`, "x")}, "0 0 0"},
		{"pages of the others", []string{ask(1, "resources", ""), give(1, "resources", `{"uri":"a"}`, "x"), ask(2, "resources", "x"), give(2, "resources", `{"uri":"b"}`, ""), ask(3, "prompts", ""), give(3, "prompts", `{"name":"a"}`, "x")}, "0 2 1"},
		{"a later listing", []string{ask(1, "prompts", ""), give(1, "prompts", `{"name":"a"}`, ""), ask(2, "prompts", ""), give(2, "prompts", `{"name":"a"},{"name":"b"}`, "")}, "0 0 1 3:b appeared"},
		{"an announced listing", []string{ask(1, "tools", ""), `s {"method":"notifications/tools/list_changed"}`, give(1, "tools", `{"name":"a"}`, "")}, "1 0 0"},
		{"an entry that is none", []string{ask(1, "tools", ""), give(1, "tools", `7,{"name":"a"}`, "")}, "1 0 0"},
		{"changes", []string{ask(1, "tools", ""), give(1, "tools", `{"name":"a"},{"name":"b"}`, ""), ask(2, "tools", ""), give(2, "tools", `{"name":"a","x":1},{"name":"c"}`, ""), ask(3, "tools", ""), give(3, "tools", `{"name":"a"},{"name":"c"}`, "")},
			"2 0 0 3:a redeclared 3:b disappeared 3:c appeared"},
		{"the same tool twice", []string{ask(1, "tools", ""), give(1, "tools", `{"name":"a"},{"name":"a","x":1}`, ""), ask(2, "tools", ""), give(2, "tools", `{"name":"a"}, {"name":"a","x":1}`, "")}, "2 0 0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := said(c.lines...)
			got := fmt.Sprint(len(w.surface.Tools), len(w.surface.Resources), len(w.surface.Prompts))
			for _, change := range w.facts.Changes {
				got += fmt.Sprintf(" %d:%s %s", change.Seq-1, change.Tool, change.Kind)
			}
			if got != c.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

// What the server asks for is held against what the client has granted by then.
func TestGrantedRequests(t *testing.T) {
	const meta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"sampling":{}}}`
	for _, c := range []struct {
		name, hello string
		want        int
	}{
		{"nobody has granted anything", `c {"id":1,"method":"ping"}`, 2},
		{"in initialize", `c {"id":1,"method":"initialize","params":{"capabilities":{"roots":{}}}}`, 1},
		{"in the era without sessions", `c {"id":1,"method":"server/discover","params":{` + meta + `}}`, 1},
	} {
		if w := said(c.hello, `s {"id":1,"method":"roots/list"}`, `s {"id":2,"method":"sampling/createMessage"}`); len(w.facts.Requests) != c.want {
			t.Errorf("%s: %+v", c.name, w.facts.Requests)
		}
	}
}
