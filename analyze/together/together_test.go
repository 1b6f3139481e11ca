package together

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
)

func server(name string, tools []scope.Tool, effects ...finding.Effect) Server {
	res := &analyze.Result{Observed: effects}
	res.Declared.Tools = tools
	return Server{name, res}
}

func TestJudge(t *testing.T) {
	t.Parallel()
	yes := true
	fetch := scope.Tool{Name: "fetch", URLs: []string{"url"}, ReadOnly: &yes}
	search := scope.Tool{Name: "search", OpenWorld: &yes, ReadOnly: &yes}
	readFile := scope.Tool{Name: "read_file", Paths: []string{"file"}, ReadOnly: &yes}
	writeFile := scope.Tool{Name: "write_file", Paths: []string{"file"}, Write: []scope.Claim{{Where: "name", Text: "write"}}}
	confined := scope.Tool{Name: "read_note", Paths: []string{"file"}, Confined: []scope.Claim{{Where: "description", Text: "within"}}}
	post := scope.Tool{Name: "post", Network: []scope.Claim{{Where: "description", Text: "posts to Slack"}}}
	quiet := scope.Tool{Name: "format"}
	call := func(kind finding.EffectKind, target string, rung finding.Rung, change func(*finding.Effect)) finding.Effect {
		e := finding.Effect{Kind: kind, Target: target, Rung: rung, Phase: finding.PhaseCall, Tool: "format"}
		if change != nil {
			change(&e)
		}
		return e
	}
	key := call(finding.Secret, "ssh-key", finding.RungRead, nil)
	for _, c := range []struct {
		name    string
		servers []Server
		want    string
	}{
		{"a browser and files", []Server{server("web", []scope.Tool{fetch}), server("files", []scope.Tool{readFile, writeFile})},
			"toxic\nbrings web.fetch takes the address url\nreads files.read_file takes the path file\nsends web.fetch takes the address url\n"},
		{"three servers", []Server{server("s", []scope.Tool{search}), server("f", []scope.Tool{readFile}), server("p", []scope.Tool{post})},
			"toxic\nbrings s.search annotation: openWorldHint=true\nbrings p.post description: posts to Slack\nreads f.read_file takes the path file\nsends p.post description: posts to Slack\n"},
		{"nothing sends", []Server{server("s", []scope.Tool{search}), server("f", []scope.Tool{readFile})},
			"brings s.search annotation: openWorldHint=true\nreads f.read_file takes the path file\n"},
		{"nothing reads", []Server{server("web", []scope.Tool{fetch}), server("f", []scope.Tool{writeFile, confined})},
			"brings web.fetch takes the address url\nsends web.fetch takes the address url\n"},
		{"one server alone", []Server{server("all", []scope.Tool{fetch, readFile}), server("q", []scope.Tool{quiet})},
			"brings all.fetch takes the address url\nreads all.read_file takes the path file\nsends all.fetch takes the address url\n"},
		{"what was seen", []Server{server("web", []scope.Tool{fetch}), server("q", []scope.Tool{quiet}, key)},
			"toxic\nbrings web.fetch takes the address url\nreads q.format seen read the decoy ssh-key\nsends web.fetch takes the address url\n"},
		{"what was seen comes first", []Server{server("f", []scope.Tool{readFile}), server("q", []scope.Tool{quiet}, key), server("q2", []scope.Tool{quiet}, call(finding.NetConnect, "198.51.100.7:443", finding.RungOpened, func(e *finding.Effect) { e.Host = "example.org" }))},
			"toxic\nbrings q2.format seen asked example.org\nreads q.format seen read the decoy ssh-key\nreads f.read_file takes the path file\nsends q2.format seen asked example.org\n"},
		{"what is nobody's, or of this machine", []Server{server("q", []scope.Tool{quiet},
			call(finding.NetConnect, "127.0.0.1:80", finding.RungOpened, nil), call(finding.NetConnect, "[::1]:80", finding.RungOpened, nil),
			call(finding.NetConnect, "192.0.2.1:80", finding.RungOpened, func(e *finding.Effect) { e.Ambiguous = true }),
			call(finding.NetConnect, "192.0.2.1:80", finding.RungOpened, func(e *finding.Effect) { e.Noise = "resolver" }),
			call(finding.NetConnect, "192.0.2.1:80", finding.RungOpened, func(e *finding.Effect) { e.Phase = finding.PhaseIdle }),
			call(finding.Secret, "ssh-key", finding.RungOpened, nil))}, ""},
		{"none", nil, ""},
	} {
		var b strings.Builder
		s := Judge(c.servers)
		if s.Toxic {
			b.WriteString("toxic\n")
		}
		for _, p := range s.Parts {
			seen := ""
			if p.Seen {
				seen = "seen "
			}
			fmt.Fprintf(&b, "%s %s.%s %s%s\n", p.Role, p.Server, p.Tool, seen, p.Why)
		}
		if diff := cmp.Diff(c.want, b.String()); diff != "" {
			t.Errorf("%s: %s", c.name, diff)
		}
	}
}
