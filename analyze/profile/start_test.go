package profile

import (
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// What an interpreter reads by itself is ordinary: by that program, in that order,
// once for each start, and never where it is a secret.
func TestOwnStart(t *testing.T) {
	const php, ini = "/opt/php/sbin/php", "/etc/php/8.2/php.ini"
	for name, c := range map[string]struct{ run, want string }{
		"the interpreter's start":    {"exec 1 " + php + "\nopen 1 /etc/php/a\nopen 1 " + ini, ""},
		"a later step first":         {"exec 1 " + php + "\nopen 1 " + ini + "\nopen 1 /etc/php/a", "/etc/php/a"},
		"a second time":              {"exec 1 " + php + "\nopen 1 " + ini + "\nopen 1 " + ini, ini},
		"a second start":             {"exec 1 " + php + "\nopen 1 " + ini + "\nfork 1 2\nexec 2 " + php + "\nopen 2 " + ini, ""},
		"a child that starts none":   {"exec 1 " + php + "\nfork 1 2\nopen 2 " + ini, ini},
		"another program":            {"exec 1 /usr/bin/node\nopen 1 " + ini, ini},
		"a name that only begins so": {"exec 1 " + php + "\nopen 1 " + ini + ".bak", ini + ".bak"},
		"a secret":                   {"exec 1 " + php + "\nopen 1 " + key, "ssh-key"},
		"a secret by another name":   {"exec 1 " + php + "\nopen 1 /usr/.." + key, "ssh-key"},
	} {
		b := builder()
		b.ctx.Runtime = &session.Runtime{Program: php, Reads: []string{"/etc/php/a", ini, key}}
		for _, line := range strings.Split(c.run, "\n") {
			f := strings.Fields(line)
			tid := int(f[1][0] - '0')
			switch f[0] {
			case "exec":
				b.Record(&trace.Record{Op: trace.OpExec, Tid: tid, Path: f[2]})
			case "fork":
				b.Record(&trace.Record{Op: trace.OpFork, Tid: tid, Child: int(f[2][0] - '0')})
			case "open":
				b.Record(&trace.Record{Op: trace.OpOpen, Call: "openat", Tid: tid, Path: f[2], Flags: "O_RDONLY"})
			}
		}
		var got []string
		for _, e := range b.Profile().Effects {
			if e.Noise == "" && e.Kind != finding.Exec {
				got = append(got, e.Target)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// What the target's own task runs while it starts is its launch; what a child runs
// is an effect, whether its birth is told of before or after.
func TestLaunch(t *testing.T) {
	for name, c := range map[string]struct {
		run  string
		want string
	}{
		"a launcher":             {"exec 1 /bin/sh\nexec 1 /usr/bin/node", ""},
		"a child":                {"exec 1 /bin/sh\nfork 1 2\nexec 2 /usr/bin/curl", "/usr/bin/curl"},
		"a child that came late": {"exec 1 /bin/sh\nexec 2 /usr/bin/curl\nfork 1 2", "/usr/bin/curl"},
	} {
		b := builder()
		for _, line := range strings.Split(c.run, "\n") {
			f := strings.Fields(line)
			r := trace.Record{Op: trace.OpExec, Tid: int(f[1][0] - '0'), Path: f[2]}
			if f[0] == "fork" {
				r = trace.Record{Op: trace.OpFork, Tid: r.Tid, Child: int(f[2][0] - '0')}
			}
			b.Record(&r)
		}
		var got []string
		for _, e := range b.Profile().Effects {
			if e.Kind == finding.Exec && e.Noise == "" {
				got = append(got, e.Target)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
