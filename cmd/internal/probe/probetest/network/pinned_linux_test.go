//go:build linux && e2e

package network

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// pinnedCells are the calls of the fixture pinner: to whom it trusts, and to one whose
// certificate it does not know. They are a column of the matrix.
var pinnedCells = []struct{ how, host, via string }{
	{"http", "p1.net", "https"}, {"h2", "p2.net", "h2"}, {"raw", "p3.net", "tls"},
	{"http-pinned", "p4.net", ""}, {"h2-pinned", "p5.net", ""}, {"raw-pinned", "p6.net", ""},
}

// TestMatrixPinned: a client that trusts one certificate (Node with a pinned one, Python with a fixed
// authority, Go with roots of its own) refuses the sinkhole's. Then no decoy is said to have come there,
// and the run says for each host that it was not read: it is never clean. What Node hands to TLS
// before it looks at the certificate is read before encryption. The same client without a pin is read
// at the sinkhole. COALMINE_MATRIX=full takes both backends.
func TestMatrixPinned(t *testing.T) {
	t.Parallel()
	t.Cleanup(printMatrix)
	for _, runtime := range []string{"python", "node", "go"} {
		backends := probetest.Backends
		if os.Getenv("COALMINE_MATRIX") != "full" {
			backends = probetest.Paired("pinned " + runtime)
		}
		for _, backend := range backends {
			t.Run(backend+"/"+runtime, func(t *testing.T) {
				t.Parallel()
				matrixAll.Add(int64(len(pinnedCells)))
				probetest.Need(t, backend)
				if runtime != "go" {
					sandboxtest.Need(t, runtime)
				}
				matrixGot.Add(int64(pinnedRow(t, backend, runtime)))
			})
		}
	}
}

// pinnedRow makes all calls in one run, and counts those of which the right thing is said.
func pinnedRow(t *testing.T, backend, runtime string) (right int) {
	l := probetest.New(t, "pinner")
	ca := l.Path("ca.pem")
	if err := os.WriteFile(ca, someCertificate(t), 0o644); err != nil { //nolint:gosec // the sandbox's user reads it
		t.Fatal(err)
	}
	command := map[string]func() []string{
		"go":     func() []string { return []string{l.Path("pinner")} },
		"python": func() []string { return []string{"python3", l.Source(t, "pinner", ".py")} },
		"node":   func() []string { return []string{"node", l.Source(t, "pinner", ".mjs")} },
	}[runtime]()
	o := l.Options(backend, append(command, ca)...)
	o.CallTimeout = 20 * time.Second // longer than the client waits for an answer to what is no protocol
	var list []*called
	for _, c := range pinnedCells {
		list = append(list, &called{how: c.how, url: "https://" + c.host + ":443"})
	}
	calls(&o, list, nil)
	res := l.Probe(o)
	for i, c := range pinnedCells {
		said, left, opaque := list[i].text(), leftTo(res, c.host), opaqueTo(res, c.host)
		ok := slices.Contains(left, c.via) && !opaque
		if c.via == "" {
			ok = opaque && strings.HasPrefix(said, "error: ") && (len(left) == 0 || runtime == "node" && handedToTLS(res, c.host))
		}
		if ok {
			right++
			continue
		}
		t.Errorf("%s to %s: a decoy left by %q, opaque %t, the tool said %.100q; %q", c.how, c.host, left, opaque, said, res.Inconclusive)
	}
	if res.Verdict == analyze.Clean {
		t.Error("a run with flows that nobody read is clean")
	}
	return right
}

// leftTo are the channels by which the key is said to have left to a host.
func leftTo(res *analyze.Result, host string) (via []string) {
	for _, e := range res.Observed {
		if e.Kind == finding.Secret && e.Rung == finding.RungLeft && e.Host == host {
			via = append(via, e.Via)
		}
	}
	return via
}

// handedToTLS reports whether all that is said to have left to a host was read before encryption.
func handedToTLS(res *analyze.Result, host string) bool {
	for _, e := range res.Observed {
		if e.Kind == finding.Secret && e.Rung == finding.RungLeft && e.Host == host &&
			!slices.ContainsFunc(e.Evidence, func(ev finding.Evidence) bool { return strings.Contains(ev.Text, "read before encryption") }) {
			return false
		}
	}
	return true
}

// opaqueTo reports whether the run says that what was sent to a host could not be read.
func opaqueTo(res *analyze.Result, host string) bool {
	return slices.Contains(res.Inconclusive, fmt.Sprintf("coalmine could not decrypt what the server sent to %s:443", host))
}

// someCertificate is one that nobody in the sandbox has.
func someCertificate(t *testing.T) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "pinned"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}
