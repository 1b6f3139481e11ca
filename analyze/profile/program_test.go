package profile

import (
	"path"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// npm is told by the code that the kernel opened for node, not by a name that
// somebody gave, and only its own file is its own.
func TestOwner(t *testing.T) {
	const rc = "/home/dana/.npmrc"
	npm := []string{"/usr/lib/node_modules/npm/package.json", "/usr/lib/node_modules/npm/bin/npm-cli.js", "/usr/lib/node_modules/npm/lib/cli.js"}
	with := func(more ...string) []string { return append(append([]string{}, npm...), more...) }
	for name, c := range map[string]struct {
		exe    string
		argv   []string
		opens  []string
		unreal bool
		reads  string
		want   bool
	}{
		"npm":                          {"/usr/bin/node", []string{"node", "/usr/bin/npm", "config"}, npm, false, rc, true},
		"Debian's npm":                 {"/usr/bin/node", []string{"node", "/usr/bin/npm"}, []string{"/usr/share/nodejs/npm/bin/npm-cli.js", "/usr/share/nodejs/semver/index.js"}, false, rc, true},
		"npx beside its own node":      {"/home/u/.nvm/v22/bin/node", []string{"node", "/home/u/.nvm/v22/bin/npx"}, []string{"/home/u/.nvm/v22/lib/node_modules/npm/bin/npx-cli.js"}, false, rc, true},
		"another secret":               {"/usr/bin/node", []string{"node", "/usr/bin/npm"}, npm, false, key, false},
		"a name alone":                 {"/usr/bin/npm", []string{"npm"}, nil, false, rc, false},
		"an argument alone":            {"/usr/bin/node", []string{"node", "/usr/bin/npm"}, nil, false, rc, false},
		"the server's own copy":        {"/usr/bin/node", []string{"node", "/srv/notes/node_modules/npm/bin/npm-cli.js"}, []string{"/srv/notes/node_modules/npm/bin/npm-cli.js"}, false, rc, false},
		"a copy that was written":      {"/usr/bin/node", []string{"node", "/tmp/npm"}, []string{"/tmp/node_modules/npm/bin/npm-cli.js"}, false, rc, false},
		"a server that imports npm":    {"/usr/bin/node", []string{"node", "/srv/notes/index.js"}, append([]string{"/srv/notes/index.js"}, npm...), false, rc, false},
		"code ahead of npm":            {"/usr/bin/node", []string{"node", "--require", "/srv/notes/x.js", "/usr/bin/npm"}, npm, false, rc, false},
		"code ahead, by a variable":    {"/usr/bin/node", []string{"node", "/usr/bin/npm"}, append([]string{"/srv/notes/x.js"}, npm...), false, rc, false},
		"code of the system's ahead":   {"/usr/bin/node", []string{"node", "/usr/bin/npm"}, append([]string{"/usr/lib/x.js"}, npm...), false, rc, false},
		"code that npm is told to run": {"/usr/bin/node", []string{"node", "/usr/bin/npm", "init"}, with("/home/dana/.npm-init.js"), false, rc, false},
		"an addon":                     {"/usr/bin/node", []string{"node", "/usr/bin/npm"}, with("/tmp/x.node"), false, rc, false},
		"a name that can be exchanged": {"/usr/bin/node", []string{"node", "/usr/bin/npm"}, npm, true, rc, false},
		"a name like npm's":            {"/usr/bin/node", []string{"node", "/usr/bin/x"}, []string{"/usr/lib/node_modules/notnpm/bin/npm-cli.js"}, false, rc, false},
	} {
		b := NewBuilder(Context{Home: "/home/dana", ServerDir: "/srv/notes", Canaries: []canaries.Canary{
			{ID: "ssh-key", Kind: "ssh", Value: "a-value-that-stands-nowhere-else", Path: key},
			{ID: "npm-token", Kind: "npm", Value: "another-value-that-stands-nowhere", Path: rc},
		}})
		b.Record(&trace.Record{Op: trace.OpExec, Tid: 1, Path: "/usr/bin/python3"})
		b.Record(&trace.Record{Op: trace.OpFork, Tid: 1, Child: 2})
		b.Record(&trace.Record{Op: trace.OpExec, Tid: 2, Path: c.exe, Argv: c.argv})
		b.Record(&trace.Record{Op: trace.OpFork, Tid: 2, Child: 3, Flags: "CLONE_VM|CLONE_THREAD"})
		for _, p := range c.opens {
			b.Record(&trace.Record{Op: trace.OpOpen, Tid: 2, Path: p, Real: !c.unreal, Flags: "O_RDONLY"})
		}
		b.Record(&trace.Record{Op: trace.OpOpen, Tid: 3, Path: c.reads, Real: true, Flags: "O_RDONLY"})
		b.Record(&trace.Record{Op: trace.OpFork, Tid: 2, Child: 4})
		b.Record(&trace.Record{Op: trace.OpExec, Tid: 4, Path: "/usr/bin/node", Argv: []string{"node", "/srv/notes/x.js"}})
		b.Record(&trace.Record{Op: trace.OpOpen, Tid: 4, Path: c.reads, Real: true, Flags: "O_RDONLY"})
		var owners []bool
		for _, e := range b.Profile().Effects {
			if e.Kind == finding.Secret {
				owners = append(owners, e.Owner)
			}
		}
		// The child that npm started reads as what it is, whoever its parent.
		want := []bool{c.want, false}
		if !c.want && path.Base(c.exe) == "node" {
			want = want[:1] // the same program read it again
		}
		if len(owners) != len(want) || owners[0] != c.want {
			t.Errorf("%s: %v, want %v", name, owners, want)
		}
	}
}

// A program that the run itself planted ahead of npm leaves npm what it is, unless the server
// changed it.
func TestPlantedProgramsAreNotForeign(t *testing.T) {
	t.Parallel()
	const rc, dir = "/home/dana/.npmrc", "/home/dana/.local/lib/clock"
	for name, c := range map[string]struct {
		change *trace.Record
		want   bool
	}{
		"as it was planted": {nil, true},
		"what it records":   {&trace.Record{Op: trace.OpOpen, Tid: 1, Path: dir + "/js-7-0-1", Real: true, Flags: "O_WRONLY|O_CREAT|O_APPEND"}, true},
		"written":           {&trace.Record{Op: trace.OpOpen, Tid: 1, Path: dir + "/fastclock.cjs", Real: true, Flags: "O_WRONLY|O_TRUNC"}, false},
		"replaced":          {&trace.Record{Op: trace.OpRename, Tid: 1, Path: "/tmp/x.cjs", To: dir + "/fastclock.cjs"}, false},
		"moved away":        {&trace.Record{Op: trace.OpRename, Tid: 1, Path: dir, To: "/tmp/old"}, false},
	} {
		b := NewBuilder(Context{Home: "/home/dana", ServerDir: "/srv/notes", Helpers: []string{dir}, Canaries: []canaries.Canary{
			{ID: "npm-token", Kind: "npm", Value: "another-value-that-stands-nowhere", Path: rc},
		}})
		b.Record(&trace.Record{Op: trace.OpExec, Tid: 1, Path: "/usr/bin/python3"})
		if c.change != nil {
			b.Record(c.change)
		}
		b.Record(&trace.Record{Op: trace.OpFork, Tid: 1, Child: 2})
		b.Record(&trace.Record{Op: trace.OpExec, Tid: 2, Path: "/usr/bin/node", Argv: []string{"node", "/usr/bin/npm"}})
		for _, p := range []string{dir + "/fastclock.cjs", "/usr/lib/node_modules/npm/bin/npm-cli.js", rc} {
			b.Record(&trace.Record{Op: trace.OpOpen, Tid: 2, Path: p, Real: true, Flags: "O_RDONLY"})
		}
		for _, e := range b.Profile().Effects {
			if e.Kind == finding.Secret && e.Owner != c.want {
				t.Errorf("%s: the owner %v, want %v", name, e.Owner, c.want)
			}
		}
	}
}

// A parent that waits until its child runs a program is recorded after it: the
// child stays what it is by then, npm or the interpreter in its own start.
func TestForkIsRecordedLate(t *testing.T) {
	const rc = "/home/dana/.npmrc"
	npm := []string{"/usr/lib/node_modules/npm/bin/npm-cli.js", rc}
	for name, c := range map[string]struct {
		flags  string
		before []string // opened by the child, before its birth is told
		runs   bool     // the child runs node at first
		after  []string
		want   bool
	}{
		"before all":              {"CLONE_VM|CLONE_VFORK", nil, true, npm, true},
		"in the middle":           {"CLONE_VM|CLONE_VFORK", npm[:1], true, npm[1:], true},
		"foreign code before":     {"CLONE_VM|CLONE_VFORK", []string{"/tmp/x.js"}, true, npm, false},
		"a thread":                {"CLONE_VM|CLONE_THREAD", nil, false, npm, true},
		"a thread's foreign code": {"CLONE_VM|CLONE_THREAD", []string{"/tmp/x.js"}, false, npm, false},
		"a process's copy":        {"SIGCHLD", nil, false, npm, true},
		"a copy's foreign code":   {"SIGCHLD", []string{"/tmp/x.js"}, false, npm, false},
	} {
		b := NewBuilder(Context{Home: "/home/dana", ServerDir: "/srv/notes", Canaries: []canaries.Canary{
			{ID: "npm-token", Kind: "npm", Value: "a-value-that-stands-nowhere-else", Path: rc},
		}, Runtime: &session.Runtime{Program: "/usr/bin/node", Reads: []string{"/etc/ssl/openssl.cnf"}}})
		node := func(tid int) {
			b.Record(&trace.Record{Op: trace.OpExec, Tid: tid, Path: "/usr/bin/node", Argv: []string{"node", "/usr/bin/npm"}})
		}
		open := func(p string) {
			b.Record(&trace.Record{Op: trace.OpOpen, Tid: 2, Path: p, Real: true, Flags: "O_RDONLY"})
		}
		node(1)
		if c.runs {
			node(2)
		}
		for _, p := range c.before {
			open(p)
		}
		b.Record(&trace.Record{Op: trace.OpFork, Tid: 1, Child: 2, Flags: c.flags})
		if c.runs && !b.ownStart(b.task(2), "/etc/ssl/openssl.cnf") {
			t.Errorf("%s: the interpreter is not in its own start", name)
		}
		for _, p := range c.after {
			open(p)
		}
		var owners []bool
		for _, e := range b.Profile().Effects {
			if e.Kind == finding.Secret {
				owners = append(owners, e.Owner)
			}
		}
		if len(owners) != 1 || owners[0] != c.want {
			t.Errorf("%s: %v, want %v", name, owners, c.want)
		}
	}
}

// TestALauncherBecomesTheServer: what the first process becomes when the client has spoken is the server, and what a
// child of it becomes is a program that it ran.
func TestALauncherBecomesTheServer(t *testing.T) {
	t.Parallel()
	b := NewBuilder(Context{})
	b.Record(&trace.Record{Op: trace.OpExec, Tid: 1, Path: "/bin/sh"})
	b.Mark(&session.Mark{Kind: session.MarkPhase, Phase: string(finding.PhaseHandshake)})
	b.Record(&trace.Record{Op: trace.OpFork, Tid: 1, Child: 2})
	b.Record(&trace.Record{Op: trace.OpExec, Tid: 2, Path: "/usr/bin/git"})
	b.Record(&trace.Record{Op: trace.OpExec, Tid: 1, Path: "/usr/bin/python3"})
	for _, e := range b.Profile().Effects {
		if want := e.Target == "/usr/bin/python3"; e.Became != want || (e.Noise != "") != (e.Target == "/bin/sh") {
			t.Errorf("%s: %v %q", e.Target, e.Became, e.Noise)
		}
	}
}

// A shell that is to speak with a person reads what was typed before by itself. One with a command or a script
// does so only because that says it, as does a child of the shell.
func TestOwnHistory(t *testing.T) {
	t.Parallel()
	const file = "/home/dana/.bash_history"
	for name, c := range map[string]struct {
		exe   string
		argv  []string
		forks bool
		reads string
		want  bool
	}{
		"a login shell":         {"/bin/bash", []string{"/bin/bash", "--login"}, false, file, true},
		"an interactive one":    {"/usr/bin/bash", []string{"-bash", "-i"}, false, file, true},
		"a command":             {"/bin/bash", []string{"bash", "-c", "wc -l <~/.bash_history"}, false, file, false},
		"a command after login": {"/bin/bash", []string{"bash", "-lc", "wc -l <~/.bash_history"}, false, file, false},
		"a script":              {"/bin/bash", []string{"bash", "x.sh"}, false, file, false},
		"a subshell":            {"/bin/bash", []string{"bash", "-i"}, true, file, false},
		"another program":       {"/bin/cat", []string{"cat"}, false, file, false},
		"the server's own bash": {"/srv/notes/bash", []string{"bash", "-i"}, false, file, false},
		"another secret":        {"/bin/bash", []string{"bash", "-i"}, false, key, false},
	} {
		b := NewBuilder(Context{Home: "/home/dana", ServerDir: "/srv/notes", Canaries: []canaries.Canary{
			{ID: "ssh-key", Kind: "ssh", Value: "a-value-that-stands-nowhere-else", Path: key},
			{ID: "typed", Kind: "gitlab", Value: "another-value-that-stands-nowhere", Path: file},
		}})
		b.Record(&trace.Record{Op: trace.OpExec, Tid: 1, Path: "/usr/bin/node"})
		b.Record(&trace.Record{Op: trace.OpFork, Tid: 1, Child: 2})
		b.Record(&trace.Record{Op: trace.OpExec, Tid: 2, Path: c.exe, Argv: c.argv})
		reader := 2
		if c.forks {
			reader = 3
			b.Record(&trace.Record{Op: trace.OpFork, Tid: 2, Child: reader})
		}
		b.Record(&trace.Record{Op: trace.OpOpen, Tid: reader, Path: c.reads, Real: true, Flags: "O_RDONLY"})
		seen := 0
		for _, e := range b.Profile().Effects {
			if e.Kind == finding.Secret {
				if seen++; e.Owner != c.want {
					t.Errorf("%s: the owner %v, want %v", name, e.Owner, c.want)
				}
			}
		}
		if seen != 1 {
			t.Errorf("%s: %d reads", name, seen)
		}
	}
}
