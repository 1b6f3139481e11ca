package cli

import (
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/policy"
)

// The command line goes before the environment, and the environment before the policy.
func TestDefaults(t *testing.T) {
	t.Setenv("COALMINE_PROBE_CALLS", "11")
	t.Setenv("COALMINE_PROBE_SANDBOX", "local")
	t.Setenv("COALMINE_PROBE_VARY", "ci,clock")
	t.Setenv("COALMINE_PROBE_URL", "https://not.invalid/")
	p, err := policy.Parse("p.yaml", []byte("defaults:\n  calls: 7\n  jobs: 3\n  tracer: strace\n  format: [line, json=x.json]\n  no-tls-probes: true\n  call-timeout: 5s\n"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := (&env{}).probe()
	if err := cmd.ParseFlags([]string{"--sandbox", "docker"}); err != nil {
		t.Fatal(err)
	}
	if err := fromEnvironment(cmd.Flags()); err != nil {
		t.Fatal(err)
	}
	if err := fromPolicy(cmd.Flags(), p); err != nil {
		t.Fatal(err)
	}
	for flag, want := range map[string]string{
		"sandbox": "docker", "calls": "11", "vary": "[ci,clock]", "url": "", "jobs": "3", "tracer": "strace", "no-tls-probes": "true", "format": "[line,json=x.json]", "call-timeout": "5s", "fail-on": "high",
	} {
		if got := cmd.Flags().Lookup(flag).Value.String(); got != want {
			t.Errorf("--%s is %s, want %s", flag, got, want)
		}
	}
	t.Setenv("COALMINE_PROBE_CALLS", "many")
	if err := fromEnvironment((&env{}).probe().Flags()); err == nil || !strings.Contains(err.Error(), "COALMINE_PROBE_CALLS") {
		t.Errorf("error %v", err)
	}
}

// A policy sets each flag that it may, and none that shows or runs more.
func TestPolicysFlags(t *testing.T) {
	flags := (&env{}).probe().Flags()
	for _, name := range policy.DefaultFlags {
		if flags.Lookup(name) == nil {
			t.Errorf("there is no flag --%s", name)
		}
	}
	for _, text := range []string{"network: allow=x", "pass-env: [HOME]", "show: /", "text-judge: sh", "image: x", "calls: {a: 1}", "calls: ~"} {
		if _, err := policy.Parse("p.yaml", []byte("defaults:\n  "+text+"\n")); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
	for _, text := range []string{"calls: many", "sandbox: [local, docker]"} {
		p, err := policy.Parse("p.yaml", []byte("defaults:\n  "+text+"\n"))
		if err != nil {
			t.Fatal(err)
		}
		if err := fromPolicy((&env{}).probe().Flags(), p); err == nil || !strings.HasPrefix(err.Error(), "p.yaml:2: defaults, ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}
