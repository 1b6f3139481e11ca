package rules

import (
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/scope"
)

// kit is a run of a server whose own name explains nothing.
func kit(r *Run) *Run {
	r.Surface.Server.Name = "kitchen"
	r.Scope = scope.Of(r.Surface)
	return r
}

var ofDefault = []ruleCase{
	{"CM221", "a program at start", kit(newRun(silent, effect("", finding.Exec, "/usr/bin/git", start))), finding.Low},
	{"CM221", "a program of the network, where all work is local", kit(newRun(note, effect("", finding.Exec, "/usr/bin/curl", start))), finding.Medium},
	{"CM221", "a host between calls, where all work is local", kit(newRun(note, effect("", finding.NetConnect, "93.184.216.34:443", idle))), finding.High},
	{"CM221", "a program that the description mentions", kit(newRun(described("do", "Shows the log of git."), effect("do", finding.Exec, "/usr/bin/git"))), ""},
	{"CM221", "a program that the description denies", kit(newRun(described("do", "Never uses git."), effect("do", finding.Exec, "/usr/bin/git"))), finding.Low},
	{"CM221", "a library's port", kit(newRun(silent, effect("do", finding.NetConnect, "loopback:5432"))), finding.Low},
	{"CM221", "a port that the call names", args(kit(newRun(silent, effect("do", finding.NetConnect, "loopback:5432"))), `{"port":"5432"}`), ""},
	{"CM221", "settings of another program", kit(newRun(silent, effect("do", finding.FileRead, home+"/.config/other/settings.json"))), finding.Low},
	{"CM221", "settings of its own", kit(newRun(silent, effect("do", finding.FileRead, home+"/.config/kitchen/settings.json"))), ""},
	{"CM221", "git reads git's settings", kit(newRun(silent, effect("do", finding.FileRead, home+"/.gitconfig", by("git")))), ""},
	{"CM221", "another program reads git's settings", kit(newRun(silent, effect("do", finding.FileRead, home+"/.gitconfig", by("python3")))), finding.Low},
	{"CM221", "the system's list of file systems", kit(newRun(silent, effect("do", finding.FileRead, "/etc/fstab"))), ""},
}

// A habit is one finding, however often it shows, and its fingerprint does not hang on what was reached.
func TestTheDefaultRuleTellsAHabitOnce(t *testing.T) {
	one := kit(newRun(silent, effect("do", finding.FileRead, home+"/.config/a/x")))
	two := kit(newRun(silent, effect("do", finding.FileRead, home+"/.config/b/y"), effect("do", finding.FileRead, home+"/.config/c/z"), effect("do", finding.Exec, "/usr/bin/git")))
	a, b := checkCM221(one), checkCM221(two)
	if len(a) != 1 || len(b) != 2 || a[0].Fingerprint != b[0].Fingerprint || a[0].Fingerprint == b[1].Fingerprint {
		t.Fatalf("%+v %+v", a, b)
	}
	if len(b[0].Evidence) != 2 || !strings.Contains(b[0].Message, ".config/b/y") || !strings.Contains(b[0].Message, ".config/c/z") {
		t.Errorf("%+v", b[0])
	}
}

// What a rule with a name told is not told again.
func TestTheDefaultRuleComesLast(t *testing.T) {
	for _, e := range []finding.Effect{effect("do", finding.NetConnect, "93.184.216.34:443"), effect("do", finding.Exec, "/usr/bin/git"), effect("do", finding.NetListen, "0.0.0.0:8080")} {
		var named, general int
		for _, f := range Check(kit(newRun(silent, e))) {
			if f.Rule == cm221Doc.ID {
				general++
			} else {
				named++
			}
		}
		if named == 0 || general != 0 {
			t.Errorf("%s: %d findings of rules with a name, %d of the default rule", e.Target, named, general)
		}
	}
}

// A word that is mentioned takes back no promise, and what the policy denies, nothing explains.
func TestStrength(t *testing.T) {
	for what, c := range map[string]struct {
		run  *Run
		want finding.Strength
	}{
		"an argument":   {args(kit(newRun(silent, effect("do", finding.NetConnect, "loopback:5432"))), `{"port":"5432"}`), finding.StrengthCertain},
		"a declaration": {kit(newRun(described("fetch", "Fetches a web page."), effect("fetch", finding.NetConnect, "93.184.216.34:443"))), finding.StrengthClaimed},
		"a mention":     {kit(newRun(described("do", "Shows the log of git."), effect("do", finding.Exec, "/usr/bin/git"))), finding.StrengthWeak},
	} {
		x := Ledger(c.run)[0]
		if x == nil || x.Strength != c.want {
			t.Errorf("%s: %+v, want %s", what, x, c.want)
		}
	}
}
