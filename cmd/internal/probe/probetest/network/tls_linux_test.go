//go:build linux && e2e

package network

import (
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// tlsCell is one call of the fixture pinner: what it sends is read in its TLS library alone, for
// the host is a real one whose TLS nobody opens.
type tlsCell struct{ how, host, via string }

var tlsCells = []tlsCell{
	{"http", "api.example.com", "https"},
	{"http-pinned", "deep.example.net", "https"},
	{"h2", "two.example.net", "h2"},
	{"h2-pinned", "pins.example.net", "h2"},
	{"raw", "raw.example.net", "tls"},
	{"raw-pinned", "other.example.net", "tls"},
}

// warming is how many calls come before.
const warming = 6

// sunkPinned is a call to the sinkhole, whose certificate a pinned client refuses.
const sunkPinned = "other.example.org"

// What a server sends to a real host over TLS is read before it is encrypted, whether it pins
// the host's certificate or not: the decoy in it is proven, and the flow is not opaque. Where the
// sinkhole's certificate is refused, nothing is sent, and the flow stays opaque.
//
// Only make tls-report runs it, alone: beside other tracers the probes come after the calls, and
// the flows stay opaque, which is what they should do then. tlsread's tests wait for their probes.
func TestTLS(t *testing.T) {
	t.Parallel()
	if os.Getenv("COALMINE_TLS") == "" {
		t.Skip("COALMINE_TLS is not set: make tls-report runs it; TestReader of sandbox/trace/tlsread reads what each runtime sends")
	}
	if !inWorld(t) {
		return
	}
	w := newWorld(t)
	runtimes := []string{"python"}
	if os.Getenv("COALMINE_TLS") == "all" {
		runtimes = []string{"python", "node", "go"}
	}
	seen, all := 0, 0
	for _, backend := range []string{"local", "docker"} {
		for _, runtime := range runtimes {
			t.Run(backend+" "+runtime, func(t *testing.T) {
				probetest.Need(t, backend)
				if runtime != "go" {
					sandboxtest.Need(t, runtime)
				}
				all += len(tlsCells)
				seen += probePinner(t, backend, runtime)
				w.heard() // what nobody hears holds the world up
			})
		}
	}
	fmt.Printf("tls: %d/%d\n", seen, all)
}

func probePinner(t *testing.T, backend, runtime string) (seen int) {
	l := probetest.New(t, "pinner")
	ca := l.Path("ca.pem")
	if err := os.WriteFile(ca, worldCertificate(t), 0o644); err != nil {
		t.Fatal(err)
	}
	command := map[string][]string{"go": {l.Path("pinner"), ca}}[runtime]
	switch runtime {
	case "python":
		command = []string{"python3", l.Source(t, "pinner", ".py"), ca}
	case "node":
		command = []string{"node", l.Source(t, "pinner", ".mjs"), ca}
	}
	o := l.Options(backend, command...)
	o.Tracer, o.Network = "ebpf", "allow=api.example.com,*.example.net"
	// The tracer reads a program's tables while the program starts: what is sent meanwhile is
	// not read, and its flow stays opaque. The sinkhole opens what goes to this host.
	list := make([]*called, warming, warming+len(tlsCells)+1)
	for i := range list {
		list[i] = &called{how: "http", url: "https://warm.example.org:443"}
	}
	for _, c := range tlsCells {
		list = append(list, &called{how: c.how, url: "https://" + c.host + ":443"})
	}
	list = append(list, &called{how: "raw-pinned", url: "https://" + sunkPinned + ":443"})
	calls(&o, list, nil)
	res := l.Probe(o)
	for i, c := range tlsCells {
		proven := sentInTheClear(res, c)
		opaque := slices.ContainsFunc(res.Inconclusive, func(s string) bool { return strings.Contains(s, c.host) })
		fmt.Printf("%-8s %-8s %-12s %-6v opaque %-6v the tool said %.80q\n", runtime, backend, c.how, proven, opaque, list[warming+i].text())
		if proven && !opaque {
			seen++
		} else {
			t.Errorf("%s: proven %v, opaque %v: %q", c.how, proven, opaque, res.Inconclusive)
		}
	}
	refused := list[warming+len(tlsCells)].text()
	if !slices.Contains(res.Inconclusive, "coalmine could not decrypt what the server sent to "+sunkPinned+":443") || !strings.HasPrefix(refused, "error: ") {
		t.Errorf("refused by the client, %q: %q", refused, res.Inconclusive)
	}
	fmt.Printf("%-8s %-8s %-12s stays opaque: the sinkhole's certificate was refused; handed to TLS before: %v\n", runtime, backend, "sunk", sentInTheClear(res, tlsCell{host: sunkPinned, via: "tls"}))
	return seen
}

// sentInTheClear reports whether a finding proves a decoy by what was read before encryption.
func sentInTheClear(res *analyze.Result, c tlsCell) bool {
	return slices.ContainsFunc(res.Findings, func(f finding.Finding) bool {
		return f.Rule == "CM103" && slices.ContainsFunc(f.Evidence, func(e finding.Evidence) bool {
			return strings.Contains(e.Text, "read before encryption") && strings.Contains(e.Text, c.host+":443")
		}) && strings.HasSuffix(f.Message, " to "+c.host+" over "+c.via)
	})
}

// worldCertificate is what the world's host shows.
func worldCertificate(t *testing.T) []byte {
	conn, err := tls.Dial("tcp", worldHost+":443", &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: conn.ConnectionState().PeerCertificates[0].Raw})
}
