package rules

import (
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// everyTarget are the kinds of effect with the kinds of target that they have.
var everyTarget = []struct {
	kind    finding.EffectKind
	targets []string
}{
	{finding.FileRead, []string{home + "/.config/other/settings.json", home + "/.bashrc", home + "/Mail/inbox", "/home/erin/notes.txt", "/root/x", "/etc/fstab", "/var/lib/x", "/mnt/x", "/proc/PID/environ", "/proc/1/environ", "/etc/shadow", home + "/.config/kit/x", home + "/.mozilla/firefox/x/places.sqlite", home + "/notes.md"}},
	{finding.FileWrite, []string{home + "/x", home + "/.bashrc", home + "/.config/kit/x", home + "/notes.md", "/data/x", "/etc/x", "/srv/notes/x"}},
	{finding.FileDelete, []string{home + "/x", home + "/.bashrc", home + "/.config/kit/x", home + "/notes.md", "/data/x", "/etc/x", "/srv/notes/x"}},
	{finding.FileMeta, []string{home + "/x", home + "/.bashrc", home + "/.config/kit/x", home + "/notes.md", "/data/x", "/etc/x", "/srv/notes/x"}},
	{finding.Exec, []string{"/usr/bin/curl", "/usr/bin/git", "/bin/sh", "/srv/notes/helper", "/tmp/x"}},
	{finding.NetConnect, []string{"93.184.216.34:443", "dns:api.example", "dns", "10.0.0.9:80", "loopback:5432", "loopback:41000"}},
	{finding.NetListen, []string{"0.0.0.0:8080", "127.0.0.1:8080", "unix:/tmp/x.sock", "unix:" + home + "/x.sock", "unix:@x"}},
	{finding.UnixSocket, []string{"/run/libvirt/libvirt-sock", "/var/run/docker.sock", "/run/user/1000/bus", "/tmp/.X11-unix/X0", "/var/run/postgresql/.s.PGSQL.5432", "/dev/log", "@x"}},
	{finding.Statement, []string{trace.StatementReads, trace.StatementWrites, trace.StatementDeletes, trace.StatementDestroys, trace.StatementMachine}},
	{finding.Secret, []string{"ssh-key", "env-openai", "dotenv", "npm", "claude", "metadata"}},
	{finding.Tamper, []string{"ptrace", "kill", "unshare", "io_uring_setup", "/proc/PID/root"}},
}

// everyPhase are the phases in which a server does something.
var everyPhase = []finding.Phase{finding.PhaseBuild, finding.PhaseStart, finding.PhaseHandshake, finding.PhaseList, finding.PhaseCall, finding.PhaseCalls, finding.PhaseIdle, finding.PhaseShutdown}

// everyTool are tools by what they declare.
var everyTool = []wire.Tool{
	silent, note,
	described("fetch", "Fetches a web page"), described("run", "Runs shell commands"), described("write_note", "Writes a note to a file and deletes old ones."),
	described("sum", "Never uses git or curl."), closed("Does it."),
}

// TestEveryEffectIsExplainedOrNamed: of each kind of effect, in each phase and on each kind of target, an effect that
// the ledger does not explain is named by a finding.
func TestEveryEffectIsExplainedOrNamed(t *testing.T) {
	holes := map[string][]string{}
	for _, tool := range everyTool {
		for _, phase := range everyPhase {
			for _, k := range everyTarget {
				for _, target := range k.targets {
					for _, rung := range []finding.Rung{finding.RungAttempted, finding.RungOpened, finding.RungRead, finding.RungReturned, finding.RungLeft} {
						if k.kind != finding.Secret && rung.Rank() > finding.RungOpened.Rank() {
							continue
						}
						r := stood(newRun(tool, placedIn(phase, tool.Name, k.kind, target, rung)), home+"/notes.md")
						r.Surface.Server.Name = "kit" // "notes" would speak of notes
						r.Scope = scope.Of(r.Surface)
						if Ledger(r)[0] == nil && !shows(Check(r), &r.Profile.Effects[0]) {
							hole := fmt.Sprintf("%s %s %s", k.kind, target, rung)
							holes[hole] = append(holes[hole], tool.Name+"/"+string(phase))
						}
					}
				}
			}
		}
	}
	for _, hole := range slices.Sorted(maps.Keys(holes)) {
		t.Errorf("nothing explains or names %s: %s", hole, strings.Join(holes[hole], " "))
	}
}

// shows reports whether the evidence of a finding is that of an effect.
func shows(found []finding.Finding, e *finding.Effect) bool {
	return slices.ContainsFunc(found, func(f finding.Finding) bool {
		return slices.ContainsFunc(f.Evidence, func(x finding.Evidence) bool { return x.Seq == e.Evidence[0].Seq && x.Source == e.Evidence[0].Source })
	})
}

// TestEveryKindIsTried: no kind of effect is left out above but those that no effect has: how the server
// ended, and what it sent that is no message.
func TestEveryKindIsTried(t *testing.T) {
	source, err := os.ReadFile("../finding/finding.go")
	if err != nil {
		t.Fatal(err)
	}
	kinds := regexp.MustCompile(`EffectKind += "([a-z.]+)"`).FindAllStringSubmatch(string(source), -1)
	if len(kinds) < len(everyTarget) {
		t.Fatalf("only %d kinds of effect were found", len(kinds))
	}
	for _, m := range kinds {
		kind := m[1]
		tried := slices.ContainsFunc(everyTarget, func(k struct {
			kind    finding.EffectKind
			targets []string
		}) bool {
			return string(k.kind) == kind
		})
		if !tried && kind != string(finding.Crash) && kind != string(finding.Protocol) {
			t.Errorf("%s is not tried", kind)
		}
	}
}

// placedIn is an effect of a phase.
func placedIn(phase finding.Phase, tool string, kind finding.EffectKind, target string, rung finding.Rung) finding.Effect {
	e := effect(tool, kind, target)
	e.Rung = rung
	if phase != finding.PhaseCall {
		e.Phase, e.Call, e.Tool, e.Ambiguous = phase, 0, "", phase.Unpinned()
	}
	switch {
	case kind == finding.Exec && rung == finding.RungAttempted:
		e.Noise = "absent" // as the profile has it
	case kind == finding.Statement:
		e.Target, e.Via, e.Told = "postgres: X things", "postgres", &trace.Statement{Does: target, Verb: "X", Object: "things", Text: "X things"}
	case kind == finding.Secret && rung == finding.RungLeft:
		e.Host, e.Via = "collect.example", "https"
	}
	return e
}

// harms are effects that harm the user by themselves, whatever is promised.
var harms = []struct {
	name string
	run  func(phase finding.Phase) *Run
}{
	{"a port for other machines", harm(finding.NetListen, "0.0.0.0:8080")},
	{"the user's screen and keys", harm(finding.UnixSocket, "/tmp/.X11-unix/X0")},
	{"an agent", harm(finding.UnixSocket, home+"/.gnupg/S.gpg-agent")},
	{"the machine", harm(finding.UnixSocket, "/var/run/docker.sock")},
	{"the user's messages", harm(finding.FileRead, home+"/.config/Signal/sql/db.sqlite")},
	{"another user's file", harm(finding.FileRead, "/home/erin/notes.txt")},
	{"what a shell obeys", harm(finding.FileWrite, home+"/.bashrc")},
	{"a document that is changed", harm(finding.FileWrite, home+"/Documents/tax.md")},
	{"a document that is gone", harm(finding.FileDelete, home+"/Documents/tax.md")},
	{"a process of others", harm(finding.Tamper, "ptrace")},
	{"a secret that went away", harm(finding.Secret, "ssh-key", rung(finding.RungLeft), func(e *finding.Effect) { e.Host, e.Via = "collect.example", "https" })},
	{"a program for the network", func(phase finding.Phase) *Run {
		if phase == finding.PhaseBuild { // what builds download is low, as CM205 has it
			phase = finding.PhaseStart
		}
		return harm(finding.Exec, "/usr/bin/curl")(phase)
	}},
	{"a document that is read", func(phase finding.Phase) *Run {
		r := harm(finding.FileRead, home+"/Documents/tax.md")(phase)
		r.Profile.Effects, r.Profile.Reads = nil, r.Profile.Effects
		return r
	}},
	{"arguments that are sent", func(finding.Phase) *Run {
		r := harm(finding.NetConnect, "93.184.216.34:443")(finding.PhaseCall)
		r.Profile.Carried = []profile.Carried{{Call: 1, Tool: "do", Peer: "93.184.216.34:443", Host: "collect.example", Via: "https", Evidence: finding.Evidence{Source: "flow", Seq: 1}}}
		return r
	}},
}

// harm makes a run with one effect in a phase, of a server that declares nothing.
func harm(kind finding.EffectKind, target string, change ...func(*finding.Effect)) func(finding.Phase) *Run {
	return func(phase finding.Phase) *Run {
		e := placedIn(phase, silent.Name, kind, target, finding.RungOpened)
		for _, c := range change {
			c(&e)
		}
		e.Ambiguous = false
		r := stood(newRun(silent, e), home+"/Documents/tax.md")
		r.Surface.Server.Name = "kit" // "notes" would speak of notes
		r.Scope = scope.Of(r.Surface)
		return r
	}
}

// TestHarmIsMediumAtLeast: what harms the user by itself is no small finding, in any phase and without any
// promise.
func TestHarmIsMediumAtLeast(t *testing.T) {
	for _, h := range harms {
		for _, phase := range everyPhase {
			found := Check(h.run(phase))
			if len(found) == 0 || found[0].Severity.Rank() < finding.Medium.Rank() {
				t.Errorf("%s in phase %s: %+v", h.name, phase, found)
			}
		}
	}
}

// TestADenialGoesBeforeNoise: what the policy denies has no explanation, however ordinary it is.
func TestADenialGoesBeforeNoise(t *testing.T) {
	for _, e := range []finding.Effect{
		effect("do", finding.FileWrite, "/tmp/x", noise("scratch")), effect("do", finding.FileRead, "/etc/hosts", noise("runtime")),
		effect("do", finding.NetConnect, "loopback:5432", noise("transport")), effect("", finding.UnixSocket, "/dev/log", start),
	} {
		r := under("server: {deny: {files: ['/tmp/**', /etc/hosts, /dev/log], hosts: ['localhost:5432']}}", newRun(silent, e))
		if Ledger(r)[0] != nil || !shows(Check(r), &r.Profile.Effects[0]) {
			t.Errorf("%s %s is denied: %+v", e.Kind, e.Target, Check(r))
		}
	}
}
