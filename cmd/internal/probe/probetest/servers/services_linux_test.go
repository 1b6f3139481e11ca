//go:build linux && e2e

package servers

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// misuses are the cases of testdata/servers/services and the rule that finds each. A case's name
// begins with the service that it needs.
var misuses = map[string]string{
	"postgres-readonly": "CM217", "postgres-injection": "CM309", "postgres-truncate": "CM217", "postgres-program": "CM218", "postgres-rows": "CM115",
	"redis-flush": "CM217", "redis-config": "CM218", "redis-rows": "CM115",
	"mariadb-injection": "CM309", "mariadb-drop": "CM217", "mariadb-outfile": "CM218",
}

// servicePrograms are what a service needs of the machine.
var servicePrograms = map[string]string{"postgres": "initdb", "redis": "redis-server", "mariadb": "mariadbd"}

// TestServices probes each case's two twins beside a real service. The misuse is to be found, and
// the fixed one is to give nothing. One case is looked at in every run of the tests, and all of them take minutes.
func TestServices(t *testing.T) {
	t.Parallel()
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python")
	all := os.Getenv("COALMINE_SERVICES") == "all"
	for name, rule := range misuses {
		service, _, _ := strings.Cut(name, "-")
		for _, twin := range []string{"hole", "fixed"} {
			if !all && (name != "redis-config" || twin != "hole") {
				continue
			}
			want := rule
			if twin == "fixed" {
				want = ""
			}
			t.Run(name+"/"+twin, func(t *testing.T) {
				t.Parallel()
				sandboxtest.Need(t, servicePrograms[service])
				got, word := verdictOn(probeBeside(t, service, name, twin), want), "right"
				if got != "" {
					t.Error(got)
					word = "WRONG: " + got
				}
				if all {
					fmt.Printf("service %-20s %-6s %s\n", name, twin, word)
				}
			})
		}
	}
}

// probeBeside probes one twin beside its service.
func probeBeside(t *testing.T, service, name, twin string) *analyze.Result {
	t.Helper()
	l := probetest.New(t)
	l.Source(t, "services", ".py")
	probetest.CopyFixture(t, sandboxtest.ModuleRoot(t)+"/testdata/servers/services/wire.py", l.Path("wire.py"))
	o := l.Options("local", "python3", l.Path("services.py"), name, twin)
	o.Calls, o.Timeout, o.OracleTime, o.CallTimeout = 4, 4*time.Minute, 20*time.Second, 10*time.Second
	o.Limits, o.Network, o.Services = plan.DefaultLimits, plan.NetworkSinkhole, []string{service}
	return l.ProbeWithin(o.Timeout+time.Minute, o)
}
