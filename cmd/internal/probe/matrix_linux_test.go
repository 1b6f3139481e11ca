package probe

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/synth"
)

// The matrix of exfiltration: each cell is one call of the fixture "sender",
// which sends one decoy by one channel in one encoding.
var (
	web  = []string{"http", "https", "h2", "ipv6", "rawip", "unix"}
	text = []string{"argv", "result", "notification", "stderr"}

	channels  = slices.Concat(web, []string{"websocket", "tcp", "udp", "dns", "doh", "file"}, text)
	encodings = []string{"raw", "hex", "base32", "base64.0", "base64.1", "base64.2", "base64url.0", "base64url.1", "base64url.2",
		"percent", "entities", "json", "reversed", "rot13", "gzip", "deflate", "brotli", "multipart", "writes", "chunks", "labels", "queries", "parameters"}
)

// cell is one call and what has to be seen of it.
type cell struct{ channel, encoding, host string }

// impossible are the cells that cannot be, each kind with its reason. A cell is
// of the first kind that fits.
var impossible = []struct {
	reason             string
	runtimes, channels []string // nil is all
	encodings          []string
}{
	{"Python has no brotli", []string{"python", "curl"}, nil, []string{"brotli"}},
	{"Go's standard library has no brotli", []string{"go"}, nil, []string{"brotli"}},
	{"only a question for a name has labels, and only questions follow each other", nil, slices.Concat(web, text, []string{"websocket", "tcp", "udp", "file"}), []string{"labels", "queries"}},
	{"only a URL has parameters", nil, []string{"websocket", "tcp", "udp", "dns", "doh", "file", "result", "notification", "stderr"}, []string{"parameters"}},
	{"only a request has parts and a content encoding", nil, []string{"websocket", "tcp", "udp", "dns", "doh", "file", "result", "notification", "stderr"}, []string{"multipart", "brotli"}},
	{"compressed bytes are no text", nil, slices.Concat(text, []string{"dns", "doh"}), []string{"gzip", "deflate", "brotli"}},
	{"only HTTP and WebSocket are framed in chunks", nil, slices.Concat(text, []string{"tcp", "udp", "dns", "doh", "file"}), []string{"chunks"}},
	{"an argument, or a question, is written at once", nil, []string{"argv", "dns", "doh"}, []string{"writes"}},
	{"a host name has no such escapes", nil, []string{"dns", "doh"}, []string{"percent", "entities", "json"}},
	{"curl's telnet changes the byte 255", []string{"curl"}, []string{"tcp"}, []string{"gzip", "deflate"}},
	{"this curl speaks no WebSocket", []string{"curl"}, []string{"websocket"}, nil},
	{"the name of a file in TFTP is text, sent at once", []string{"curl"}, []string{"udp"}, []string{"gzip", "deflate", "writes"}},
	{"a URL's host holds only letters, digits and hyphens", []string{"curl"}, []string{"dns", "doh"},
		[]string{"raw", "base64.0", "base64.1", "base64.2", "base64url.0", "base64url.1", "base64url.2", "reversed", "rot13"}},
}

// why says why a cell cannot be, "" where it can.
func why(runtime string, c cell) string {
	in := func(list []string, s string) bool { return list == nil || slices.Contains(list, s) }
	for _, i := range impossible {
		if in(i.runtimes, runtime) && in(i.channels, c.channel) && in(i.encodings, c.encoding) {
			return i.reason
		}
	}
	return ""
}

// cells lists what a runtime can do; with sample only some encodings.
func cells(runtime string, sample bool) []cell {
	var out []cell
	for _, ch := range channels {
		for _, enc := range encodings {
			if sample && !slices.Contains([]string{"raw", "base64.1", "gzip", "chunks", "queries", "parameters"}, enc) {
				continue
			}
			if c := (cell{ch, enc, fmt.Sprintf("c%d.net", 100+len(out))}); why(runtime, c) == "" {
				out = append(out, c)
			}
		}
	}
	return out
}

// rung is how far a cell's decoy has to be seen going, by what channel and to whom.
func (c cell) want() (rung finding.Rung, via, host string) {
	switch c.channel {
	case "result", "notification":
		return finding.RungReturned, "wire", ""
	case "stderr":
		return finding.RungReturned, "stderr", ""
	case "file":
		return finding.RungRead, "file", ""
	case "rawip":
		return finding.RungLeft, "http", "93.184.216.34"
	case "ipv6":
		return finding.RungLeft, "http", "2606:2800:220:1:248:1893:25c8:1946"
	case "argv", "unix":
		return finding.RungLeft, "http", c.host
	}
	return finding.RungLeft, c.channel, c.host
}

// names are what an encoding may be called: part of the name is enough.
var names = map[string][]string{
	"base64": {"base64"}, "base64url": {"base64"}, "entities": {"html"}, "json": {"json", "escape", "backslash"}, "deflate": {"deflate", "zlib"},
	"multipart": {""}, "writes": {"raw"}, "chunks": {"raw", "chunk"}, "labels": {"hex"}, "queries": {"hex"}, "parameters": {"parameters"}, "brotli": {"br"},
}

// proven reports whether a call's effects prove the cell, else what they say.
func (c cell) proven(effects []finding.Effect, call int) (bool, string) {
	rung, via, host := c.want()
	var seen []string
	name, _, _ := strings.Cut(c.encoding, ".")
	wanted := names[name]
	if wanted == nil {
		wanted = []string{name}
	}
	for _, e := range effects {
		if e.Kind != finding.Secret || e.Call != call {
			continue
		}
		seen = append(seen, fmt.Sprintf("%s %s via %q to %q in %q", e.Target, e.Rung, e.Via, e.Host, e.Encoding))
		encoded := slices.ContainsFunc(wanted, func(w string) bool { return strings.Contains(e.Encoding, w) })
		if e.Target == "aws-secret" && e.Rung == rung && e.Via == via && e.Host == host && encoded && !e.Ambiguous && e.Tool == "deliver" {
			return true, ""
		}
	}
	return false, strings.Join(seen, "; ")
}

// senders are the fixture's forms.
var senders = []struct {
	runtime string
	need    string
	command func(l *lab) []string
}{
	{"python", "python", func(l *lab) []string { return []string{"python3", l.copied("sender.py")} }},
	{"curl", "curl", func(l *lab) []string { return []string{"python3", l.copied("sender.py"), "curl"} }},
}

// copied puts a source of the sender's into the lab.
func (l *lab) copied(name string) string {
	copyFixture(l.t, sandboxtest.ModuleRoot(l.t)+"/testdata/servers/sender/"+name, l.path(name))
	return l.path(name)
}

// TestMatrix proves every cell in one run a runtime and backend. COALMINE_MATRIX=full
// takes them all, otherwise it is a fixed sample of the encodings.
func TestMatrix(t *testing.T) {
	full := os.Getenv("COALMINE_MATRIX") == "full"
	got, all := 0, 0
	for _, backend := range backends {
		for _, s := range senders {
			t.Run(backend+"/"+s.runtime, func(t *testing.T) {
				need(t, backend)
				sandboxtest.Need(t, s.need)
				l := newLab(t)
				list := cells(s.runtime, !full)
				res := l.send(backend, s.command(l), list)
				for i, c := range list {
					all++
					ok, saw := c.proven(res.Observed, i+1)
					if ok {
						got++
						continue
					}
					t.Errorf("%s × %s (call %d): %s", c.channel, c.encoding, i+1, saw)
				}
			})
		}
	}
	fmt.Printf("matrix: %d/%d\n", got, all)
}

// send makes one call a cell, and judges.
func (l *lab) send(backend string, command []string, list []cell) *analyze.Result {
	l.t.Helper()
	o := l.options(backend, command...)
	o.Timeout, o.CallTimeout = 8*time.Minute, 20*time.Second
	o.exact = func(ctx context.Context, c *conversation) error {
		for i, cell := range list {
			call := synth.Call{N: i + 1, Tool: "deliver", What: "tool"}
			args, err := json.Marshal(map[string]string{"channel": cell.channel, "encoding": cell.encoding, "host": cell.host})
			if err != nil {
				return err
			}
			c.onCall(call)
			r, err := c.CallTool(ctx, call.Tool, args)
			outcome := synth.OK
			if err != nil || r.Err != nil || r.IsError {
				outcome = synth.Error
				l.t.Logf("%s × %s: %v %v %.200s", cell.channel, cell.encoding, err, r.Err, r.Raw)
			}
			c.onReturn(call, outcome, r)
			if err != nil {
				return err
			}
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 9*time.Minute)
	defer cancel()
	got, err := Run(ctx, o)
	if err != nil {
		l.t.Fatalf("probe: %v", err)
	}
	for _, r := range got.Result.Inconclusive {
		l.t.Log("inconclusive: " + r)
	}
	return got.Result
}
