//go:build linux && e2e

package network

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/run"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
	"github.com/coalmine-dev/coalmine/synth"
)

// The matrix of exfiltration: each cell is one call of the fixture "sender",
// which sends one decoy by one channel in one encoding.
var (
	web  = []string{"http", "https", "h2", "ipv6", "rawip", "unix"}
	text = []string{"argv", "result", "notification", "stderr"}

	channels  = slices.Concat(web, []string{"websocket", "tcp", "udp", "dns", "doh", "file"}, text)
	sampled   = []string{"raw", "base64.1", "gzip", "chunks", "queries", "parameters"}
	encodings = []string{"raw", "hex", "base32", "base64.0", "base64.1", "base64.2", "base64url.0", "base64url.1", "base64url.2",
		"percent", "entities", "json", "reversed", "rot13", "gzip", "deflate", "brotli", "multipart", "writes", "chunks", "labels", "queries", "parameters"}
)

// cell is one call and what has to be seen of it. A random one sends what only
// looks like a decoy: of it nothing may be seen but that a decoy was read.
type cell struct {
	channel, encoding, host string
	random                  bool
}

// impossible are the cells that cannot be, each kind with its reason. A cell is
// of the first kind that fits.
var impossible = []struct {
	reason             string
	runtimes, channels []string // nil is all
	encodings          []string
}{
	{"only a name server is asked a question after the other", nil, slices.Concat(web, text, []string{"websocket", "tcp", "udp", "file"}), []string{"queries"}},
	{"a question has no parameters but the name and its kind", nil, []string{"dns", "doh"}, []string{"parameters"}},
	{"nothing but a header of HTTP says that bytes are brotli", nil, []string{"websocket", "tcp", "udp", "dns", "doh", "file", "result", "notification", "stderr"}, []string{"brotli"}},
	{"only HTTP and WebSocket are framed in chunks", nil, slices.Concat(text, []string{"tcp", "udp", "dns", "file"}), []string{"chunks"}},
	{"an argument is given at once", nil, []string{"argv"}, []string{"writes"}},
	{"no argument holds a zero byte, and gzip ends with one", nil, []string{"argv"}, []string{"gzip"}},
	{"no argument holds a zero byte, and Python has no brotli but one that does", []string{"python", "curl"}, []string{"argv"}, []string{"brotli"}},
	{"no argument holds a zero byte, and all that Go's packers write holds some", []string{"go"}, []string{"argv"}, []string{"deflate", "brotli"}},
	{"Node gives a program arguments in UTF-8, which packed bytes are not", []string{"node"}, []string{"argv"}, []string{"deflate", "brotli"}},
	{"the name of a file in TFTP holds no zero byte, and gzip ends with one", []string{"curl"}, []string{"udp"}, []string{"gzip"}},
	{"a request of TFTP is one datagram", []string{"curl"}, []string{"udp"}, []string{"writes"}},
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

// cells lists what a runtime can do; with sample only some encodings, each by half of the channels.
func cells(runtime string, sample bool) []cell {
	var out []cell
	for _, ch := range channels {
		for _, enc := range encodings {
			if sample && (!slices.Contains(sampled, enc) || !scale.Part(runtime+" "+ch+" "+enc, 3)) {
				continue
			}
			if c := (cell{channel: ch, encoding: enc, host: fmt.Sprintf("c%d.net", 100+len(out))}); why(runtime, c) == "" {
				out = append(out, c)
			}
		}
	}
	for _, c := range slices.Clone(out) {
		if slices.Contains([]string{"raw", "base64.1", "gzip", "queries", "parameters"}, c.encoding) {
			out = append(out, cell{c.channel, c.encoding, fmt.Sprintf("c%d.net", 100+len(out)), true})
		}
	}
	return out
}

// want is how far a cell's decoy has to be seen going, by what channel and to whom.
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
	"multipart": {""},
	// A name's labels hold the value as it is.
	"raw": {"raw", "labels"}, "writes": {"raw", "labels"}, "chunks": {"raw", "chunk", "labels"}, "labels": {"hex"}, "queries": {"hex"}, "parameters": {"parameters"}, "brotli": {"br"},
}

// proven reports whether a call's effects prove the cell, else what they say. A
// decoy that goes elsewhere in the same call, or where none was sent, disproves it.
func (c cell) proven(effects []finding.Effect, call int) (bool, string) {
	rung, via, host := c.want()
	var seen []string
	proved, blamed := false, false
	for _, e := range effects {
		if e.Kind != finding.Secret || e.Call != call {
			continue
		}
		saw := fmt.Sprintf("%s %s via %q to %q in %q by %q", e.Target, e.Rung, e.Via, e.Host, e.Encoding, e.Tool)
		there := e.Target == "aws-secret" && e.Rung == rung && e.Via == via && e.Host == host && e.Tool == "deliver"
		switch fault := unproven(e); {
		case there && !c.random && !e.Ambiguous && c.encodes(e.Encoding) && fault == "":
			proved = true
		case there && !c.random:
			saw += fmt.Sprintf(" (ambiguous %t) %s", e.Ambiguous, fault)
		case out(e) && (c.random || e.Host != host && !strings.HasSuffix(e.Host, "."+host)): // curl also tells the name that it asked for
			blamed = true
		}
		seen = append(seen, saw)
	}
	return (proved || c.random) && !blamed, strings.Join(seen, "; ")
}

// out reports whether an effect says that a decoy came out, rather than that it was read.
func out(e finding.Effect) bool {
	return e.Rung == finding.RungLeft || e.Rung == finding.RungReturned || e.Via == "file"
}

// encodes reports whether a name of an encoding is the cell's.
func (c cell) encodes(encoding string) bool {
	name, _, _ := strings.Cut(c.encoding, ".")
	wanted := names[name]
	if wanted == nil {
		wanted = []string{name}
	}
	return slices.ContainsFunc(wanted, func(w string) bool { return strings.Contains(encoding, w) })
}

// unproven says what the evidence of a decoy that came out lacks: where in which
// flow, frame or event it stands.
func unproven(e finding.Effect) string {
	source := map[string]string{"wire": "frame", "stderr": "event", "file": "event"}[e.Via]
	if source == "" {
		source = "flow"
	}
	for _, ev := range e.Evidence {
		numbered := ev.Seq > 0 || source == "event"
		placed := strings.Contains(ev.Text, "offset ") && (e.Via != "wire" || strings.Contains(ev.Text, " at /"))
		if ev.Source == source && numbered && placed {
			return ""
		}
	}
	return fmt.Sprintf("no place in a %s: %+v", source, e.Evidence)
}

// strangers are the decoys that came out in no call of the list.
func strangers(effects []finding.Effect, calls int) []string {
	var all []string
	for _, e := range effects {
		if e.Kind == finding.Secret && out(e) && (e.Call < 1 || e.Call > calls) {
			all = append(all, fmt.Sprintf("%s %s via %q to %q in phase %s, call %d", e.Target, e.Rung, e.Via, e.Host, e.Phase, e.Call))
		}
	}
	return all
}

// senders are the fixture's forms.
var senders = []struct {
	runtime string
	needs   []string
	command func(l *probetest.Lab) []string
}{
	{"python", []string{"python", "curl"}, func(l *probetest.Lab) []string { return []string{"python3", copied(l, "sender.py")} }},
	{"curl", []string{"python", "curl"}, func(l *probetest.Lab) []string { return []string{"python3", copied(l, "sender.py"), "curl"} }},
	{"node", []string{"node", "curl"}, func(l *probetest.Lab) []string { return []string{"node", copied(l, "sender.mjs")} }},
	{"go", []string{"curl"}, func(l *probetest.Lab) []string {
		probetest.CopyFixture(l.T, sandboxtest.Build(l.T, "./testdata/servers/sender"), l.Path("sender"))
		return []string{l.Path("sender")}
	}},
}

// copied puts a source of the sender's into the lab.
func copied(l *probetest.Lab, name string) string {
	probetest.CopyFixture(l.T, sandboxtest.ModuleRoot(l.T)+"/testdata/servers/sender/"+name, l.Path(name))
	return l.Path(name)
}

// matrixGot of matrixAll cells are proven. The test that ends last prints all of them.
var matrixGot, matrixAll atomic.Int64

func printMatrix() { fmt.Printf("matrix: %d/%d\n", matrixGot.Load(), matrixAll.Load()) }

// TestMatrix proves every cell in one run a runtime and backend. COALMINE_MATRIX=full
// takes them all, otherwise it is a fixed sample of the encodings, each runtime in one backend.
func TestMatrix(t *testing.T) {
	t.Parallel()
	full := os.Getenv("COALMINE_MATRIX") == "full"
	got, all := &matrixGot, &matrixAll
	t.Cleanup(printMatrix)
	for _, s := range senders {
		backends := probetest.Backends
		if !full && (s.runtime == "curl" || s.runtime == "python") {
			continue // the slowest two: curl is started for each cell
		}
		if !full {
			backends = probetest.Paired(s.runtime)
		}
		for _, backend := range backends {
			t.Run(backend+"/"+s.runtime, func(t *testing.T) {
				t.Parallel()
				list := cells(s.runtime, !full)
				for _, c := range list {
					if !c.random {
						all.Add(1)
					}
				}
				probetest.Need(t, backend)
				sandboxtest.Need(t, s.needs...)
				l := probetest.New(t)
				res := send(l, backend, s.command(l), list)
				for _, stranger := range strangers(res.Observed, len(list)) {
					t.Errorf("no call sent it: %s", stranger)
				}
				for i, c := range list {
					switch ok, saw := c.proven(res.Observed, i+1); {
					case !ok:
						t.Errorf("%s × %s (call %d, random %t): %s", c.channel, c.encoding, i+1, c.random, saw)
					case !c.random:
						got.Add(1)
					}
				}
			})
		}
	}
}

// send makes one call a cell, and judges.
func send(l *probetest.Lab, backend string, command []string, list []cell) *analyze.Result {
	l.T.Helper()
	o := l.Options(backend, command...)
	// Node takes more than a hostile server is given.
	o.Timeout, o.CallTimeout, o.Limits = 8*time.Minute, 20*time.Second, plan.DefaultLimits
	o.Driver = func(ctx context.Context, c *run.Session) error {
		for i, cell := range list {
			call := synth.Call{N: i + 1, Tool: "deliver", What: "tool"}
			value := map[bool]string{true: "random", false: "secret"}[cell.random]
			args, err := json.Marshal(map[string]string{"channel": cell.channel, "encoding": cell.encoding, "host": cell.host, "value": value})
			if err != nil {
				return err
			}
			c.OnCall(call)
			r, err := c.CallTool(ctx, call.Tool, args)
			outcome := synth.OK
			if err != nil || r.Err != nil || r.IsError {
				outcome = synth.Error
				l.T.Logf("%s × %s: %v %v %.200s", cell.channel, cell.encoding, err, r.Err, r.Raw)
			}
			if err := c.Sync(ctx); err != nil {
				return err
			}
			c.OnReturn(call, outcome, r)
			if err != nil {
				return err
			}
		}
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 9*time.Minute)
	defer cancel()
	got, err := probetest.Run(ctx, o)
	if err != nil {
		l.T.Fatalf("probe: %v", err)
	}
	for _, r := range got.Result.Inconclusive {
		l.T.Log("inconclusive: " + r)
	}
	return got.Result
}
