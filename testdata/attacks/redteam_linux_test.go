//go:build linux && e2e

package attacks

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

const (
	// allEnv asks for all attacks, each in so many places, shardEnv for a part of them.
	allEnv, shardEnv = "COALMINE_RED_TEAM", "SHARD"
	seed             = 1 // decides which attack runs where
)

// sample is what every run of the end-to-end tests does: attacks of each family.
var sample = map[string]Place{
	"escape/linked-directory":    {"docker", "root", "strace"},
	"reach/loopback-tcp":         {"local", "user", "strace"},
	"read/host-file":             {"local", "root", "strace"},
	"write/host-marker":          {"docker", "user", "strace"},
	"exhaust/outlives-the-run":   {"local", "root", "strace"},
	"hide/o-path":                {"local", "root", "strace"},
	"forge/gate-duplicate-key":   {"host", "root", "none"},
	"switch-off/checkout-policy": {"local", "root", "strace"},
}

// chosen are the cases that are to be run.
func chosen(t *testing.T) []Case {
	t.Helper()
	all, err := Load(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if text := os.Getenv(allEnv); text != "" {
		places, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("%s is how many places each attack runs in: %v", allEnv, err)
		}
		cases, err := Shard(Pair(all, places, seed), os.Getenv(shardEnv))
		if err != nil {
			t.Fatal(err)
		}
		return cases
	}
	var cases []Case
	for _, a := range all {
		if p, ok := sample[a.ID()]; ok {
			cases = append(cases, Case{a, p})
		}
	}
	if len(cases) != len(sample) {
		t.Fatalf("%d of the %d attacks of the sample exist", len(cases), len(sample))
	}
	return cases
}

// TestControls does every attack's deed without its guard: an attack whose deed is not done
// then proves nothing. It needs no sandbox, but all that the attacks use.
func TestControls(t *testing.T) {
	if os.Getenv(allEnv) == "" {
		t.Skip("TestRedTeam does the controls of what it runs")
	}
	sandboxtest.Need(t, "root", "userns", "node", "npm", "git", "docker")
	team := newTeam(t)
	all, err := Load(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range all {
		t.Run(strings.ReplaceAll(a.ID(), "/", ":"), func(t *testing.T) {
			t.Parallel()
			if why := team.control(t, a); why != "" {
				t.Error(why)
			}
		})
	}
}

// TestRedTeam attacks coalmine. Each case is one line: held, NOT HELD with what shows it,
// or ERROR where the attack proves nothing.
func TestRedTeam(t *testing.T) {
	sandboxtest.Need(t, "root", "userns", "strace", "node", "npm", "git", "docker")
	team := newTeam(t)
	var mu sync.Mutex
	held, all := 0, 0
	cases := chosen(t)
	t.Run("case", func(t *testing.T) {
		for _, c := range cases {
			t.Run(strings.NewReplacer(" ", "_", "/", ":").Replace(c.String()), func(t *testing.T) {
				t.Parallel()
				verdict, why := team.judge(t, c)
				mu.Lock()
				defer mu.Unlock()
				all++
				if verdict == wasHeld {
					held++
				} else {
					t.Errorf("%s: %s", verdict, why)
				}
				fmt.Printf("red-team %-8s %-34s %-22s %s\n", verdict, c.ID(), c.Place, why)
			})
		}
	})
	fmt.Printf("red-team held: %d/%d\n", held, all)
}
