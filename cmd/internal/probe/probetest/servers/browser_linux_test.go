//go:build linux && e2e

package servers

import (
	"os"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// trusting says on its stderr whether the policy of browsers names the authority of the run.
const trusting = `
import json, sys
pem = open("/run/tls/root-ca.pem").read().split("-----")[2]
policy = json.load(open("/etc/chromium/policies/managed/certificates.json"))
same = policy == {"CACertificates": ["".join(pem.split())]} and policy == json.load(open("/etc/opt/chrome/policies/managed/certificates.json"))
print("trusts the authority:", same, file=sys.stderr)
`

// TestBrowsersTrustTheAuthority: browsers of Chromium's family read neither bundles nor
// variables, and would send nothing that can be read.
func TestBrowsersTrustTheAuthority(t *testing.T) {
	t.Parallel()
	for _, backend := range probetest.Paired(t.Name()) {
		t.Run(backend, func(t *testing.T) {
			t.Parallel()
			probetest.Need(t, backend)
			sandboxtest.Need(t, "python")
			l := probetest.New(t)
			if err := os.WriteFile(l.Path("trusting.py"), []byte(trusting), 0o644); err != nil {
				t.Fatal(err)
			}
			o := l.Options(backend, "python3", l.Path("trusting.py"))
			o.Network = plan.NetworkSinkhole
			if said := l.Probe(o).Server.Stderr; !strings.Contains(said, "trusts the authority: True") {
				t.Errorf("it said %q", said)
			}
		})
	}
}
