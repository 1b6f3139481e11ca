//go:build linux

package action

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// sampleStep is a step of a sample of deploy/github.
func sampleStep(t *testing.T, file, name string) step {
	t.Helper()
	var w struct {
		Jobs map[string]struct{ Steps []step }
	}
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(sandboxtest.ModuleRoot(t), "deploy", "github", file))), &w); err != nil {
		t.Fatal(err)
	}
	for _, job := range w.Jobs {
		for _, s := range job.Steps {
			if s.Name == name {
				return s
			}
		}
	}
	t.Fatalf("%s has no step %q", file, name)
	return step{}
}

// A night whose verdicts cannot be signed fails, and one without a key says that it signs nothing.
func TestTheNightSigns(t *testing.T) {
	t.Parallel()
	const digest = "{\n  \"digest\": \"sha256:00\"\n}"
	for _, c := range []struct {
		name, key string
		// runs are the files target.json by the runs' names.
		runs map[string]string
		// attest is how coalmine attest ends.
		attest string
		fails  bool
		said   string
	}{
		{"no key", "", map[string]string{"a": digest}, "exit 2", false, "there is no secret COALMINE_KEY"},
		{"a key", "k", map[string]string{"a": digest, "b": digest}, "exit 0", false, "runs/a coalmine-sweep/runs/b\n"},
		{"a wrong key", "k", map[string]string{"a": digest}, "exit 2", true, "attest --key"},
		{"a run without a digest", "k", map[string]string{"a": digest, "b": `{"unknown": "remote"}`}, "exit 0", false, "runs/a\n"},
		{"nothing to sign", "k", map[string]string{"b": `{"unknown": "remote"}`}, "exit 2", false, ""},
		{"no run", "k", nil, "exit 2", false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			bin := t.TempDir()
			sandboxtest.WriteProgram(t, filepath.Join(bin, "coalmine"), []byte("#!/bin/sh\necho \"$@\"\n"+c.attest+"\n"))
			j := newJob(t, bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
			for name, text := range c.runs {
				dir := filepath.Join(j.dir, "coalmine-sweep", "runs", name)
				if err := os.MkdirAll(dir, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, "target.json"), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			j.values["secrets.COALMINE_KEY"] = c.key
			status, _ := j.step(0, sampleStep(t, "nightly-sweep.yml", "Sign the verdicts"))
			if (status != 0) != c.fails || !strings.Contains(j.log, c.said) || c.said == "" && j.log != "" {
				t.Errorf("status %d\n%s", status, j.log)
			}
			if _, err := os.Stat(filepath.Join(j.temp, "key.pem")); err == nil {
				t.Error("the key is left behind")
			}
		})
	}
}
