package cli

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// changeUnderReview is a repository whose branch main has a configuration and the
// server server/index.js, made the working directory. Its branch is change.
func changeUnderReview(t *testing.T, configuration string) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	dir := t.TempDir()
	t.Chdir(dir)
	putFile(t, ".mcp.json", configuration)
	putFile(t, "server/index.js", "1\n")
	putFile(t, "server/package.json", "{}\n")
	putFile(t, "other/index.js", "1\n")
	for _, args := range [][]string{{"init", "-q", "-b", "main"}, {"add", "-A"}, {"-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "one"}, {"checkout", "-qb", "change"}} {
		if out, err := exec.Command("git", args...).CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
}

func putFile(t *testing.T, name, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
		t.Fatal(err)
	}
}

// leftOut are the servers that --changed-since main would not probe.
func leftOut(t *testing.T) []string {
	t.Helper()
	var said bytes.Buffer
	f := &probeFlags{config: ".mcp.json", changedSince: "main"}
	if err := f.openBase(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.closeBase(); err != nil {
			t.Error(err)
		}
	}()
	runs, err := f.runs(nil)
	if err != nil {
		t.Fatal(err)
	}
	left, err := (&env{err: &said}).unchanged(context.Background(), f, runs)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(said.String()) {
		name, _, _ := strings.Cut(line, ":")
		out = append(out, name)
	}
	if len(out)+len(left) != len(runs) {
		t.Errorf("of %d runs %d are left, and %d left out", len(runs), len(left), len(out))
	}
	return out
}

// A server is left out only where all that it names is the merge base's.
func TestOnlyWhatIsShownUnchangedIsLeftOut(t *testing.T) {
	outside := t.TempDir()
	for name, c := range map[string]struct {
		entry, before string // of the server s; before is the same where it is ""
		change        func(t *testing.T)
		left          bool
	}{
		"nothing":                    {entry: `{"command":"node","args":["server/index.js"]}`, left: true},
		"an exact package":           {entry: `{"command":"npx","args":["-y","some-server@1.2.3"]}`, left: true},
		"its file":                   {entry: `{"command":"node","args":["server/index.js"]}`, change: func(t *testing.T) { putFile(t, "server/index.js", "2\n") }},
		"an ignored file":            {entry: `{"command":"node","args":["server/index.js"]}`, change: func(t *testing.T) { putFile(t, ".gitignore", "x\n"); putFile(t, "server/x", "") }},
		"its entry":                  {entry: `{"command":"node","args":["server/index.js"]}`, before: `{"command":"node","args":["other/index.js"]}`},
		"a command of no file":       {entry: `{"command":"sh","args":["-c","cd server && node index.js"]}`},
		"the newest of a package":    {entry: `{"command":"npx","args":["-y","some-server"]}`},
		"a range of a package":       {entry: `{"command":"npx","args":["-y","some-server@^1.2.3"]}`},
		"an image's tag":             {entry: `{"command":"docker","args":["run","-i","--rm","some/server:1.2.3"]}`},
		"a path outside":             {entry: `{"command":"node","args":["server/index.js","` + outside + `"]}`},
		"a path outside in a list":   {entry: `{"command":"node","args":["server/index.js"],"env":{"NODE_PATH":"nowhere:` + outside + `"}}`},
		"what a variable names":      {entry: `{"command":"node","args":["server/index.js"],"env":{"NODE_OPTIONS":"--require=./other/index.js"}}`, change: func(t *testing.T) { putFile(t, "other/index.js", "2\n") }},
		"a lock above it":            {entry: `{"command":"node","args":["server/index.js"]}`, change: func(t *testing.T) { putFile(t, "package-lock.json", "{}\n") }},
		"a lock beside it":           {entry: `{"command":"node","args":["server/index.js"]}`, change: func(t *testing.T) { putFile(t, "other/package-lock.json", "{}\n") }, left: true},
		"what its entry resolves to": {entry: `{"command":"npx","args":["-y","some-server@1.2.3"]}`, change: func(t *testing.T) { putFile(t, ".npmrc", "registry=https://example.com\n") }},
		"a file by its workspace":    {entry: `{"command":"node","args":["server/index.js","${workspaceFolder}/other/index.js"]}`, change: func(t *testing.T) { putFile(t, "other/index.js", "2\n") }},
		"its directory by a link": {entry: `{"command":"node","args":["server/index.js"]}`, change: func(t *testing.T) {
			if err := os.Rename("server", "elsewhere"); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("elsewhere", "server"); err != nil {
				t.Fatal(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			changeUnderReview(t, `{"mcpServers":{"s":`+c.entry+`}}`)
			if c.before != "" {
				changeUnderReview(t, `{"mcpServers":{"s":`+c.before+`}}`)
				putFile(t, ".mcp.json", `{"mcpServers":{"s":`+c.entry+`}}`)
			}
			if c.change != nil {
				c.change(t)
			}
			if got := slices.Contains(leftOut(t), "s"); got != c.left {
				t.Errorf("left out: %t", got)
			}
		})
	}
}

// Two entries of one name are two servers: the one that was there speaks for itself alone.
func TestAnEntryOfAKnownNameIsNew(t *testing.T) {
	const was, evil = `{"command":"node","args":["server/index.js"]}`, `{"command":"npx","args":["-y","evil@6.6.6"]}`
	for _, order := range [][2]string{{was, evil}, {evil, was}} {
		changeUnderReview(t, `{"mcpServers":{"s":`+was+`}}`)
		putFile(t, ".mcp.json", `{"servers":{"s":`+order[0]+`},"mcpServers":{"s":`+order[1]+`}}`)
		if got := leftOut(t); len(got) > 1 {
			t.Errorf("left out: %q", got)
		}
	}
}

// The change's own replies are not those that its server is probed with.
func TestRepliesAreTheMergeBases(t *testing.T) {
	changeUnderReview(t, `{"mcpServers":{}}`)
	putFile(t, "replies.yaml", "replies:\n  - {host: example.com, path: /, status: 204}\n")
	f := &probeFlags{config: ".mcp.json", changedSince: "main", replies: "replies.yaml"}
	if err := f.openBase(context.Background()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := f.closeBase(); err != nil {
			t.Error(err)
		}
	}()
	if err := f.readReplies(context.Background()); err != nil {
		t.Fatal(err)
	}
	if f.Replies != nil || len(f.Changed) != 1 || !f.Changed[0].Added || f.Changed[0].What != "replies" {
		t.Errorf("%+v, %+v", f.Replies, f.Changed)
	}
}
