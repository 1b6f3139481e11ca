package action

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

func TestInputsNeverReachAScript(t *testing.T) {
	d := load(t)
	if d.Runs.Using != "composite" || d.Name == "" || d.Description == "" || len(d.Runs.Steps) == 0 {
		t.Fatalf("%+v", d)
	}
	for _, name := range []string{"config", "server", "command", "fail-on", "format", "allow-inconclusive", "budget", "version", "checksum", "policy", "baseline", "changed-since", "verdicts", "verdicts-key", "comment", "comment-name", "token", "attestation", "cache"} {
		if in, ok := d.Inputs[name]; !ok || in.Default == nil || in.Description == "" {
			t.Errorf("input %s has no default or no description", name)
		}
	}
	for _, name := range []string{"verdict", "findings", "report", "sarif"} {
		if d.Outputs[name].Value == "" {
			t.Errorf("there is no output %s", name)
		}
	}
	for _, s := range d.Runs.Steps {
		if strings.Contains(s.Run, "${{") {
			t.Errorf("step %q: an expression stands in its script", s.Name)
		}
		// GitHub's own caches, and nothing else of others: each is pinned, as all that the workflows use.
		if s.Uses != "" && !strings.HasPrefix(s.Uses, "actions/cache/") || s.Uses == "" && s.Shell != "bash" {
			t.Errorf("step %q: uses %q, shell %q", s.Name, s.Uses, s.Shell)
		}
	}
}

func TestReleasesHaveTheNamesThatAreFetched(t *testing.T) {
	var release struct {
		Builds []struct {
			Env, Goos, Goarch []string
		}
		Archives []struct {
			Formats []string
			Name    string `yaml:"name_template"`
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(sandboxtest.ModuleRoot(t), ".goreleaser.yaml"))), &release); err != nil {
		t.Fatal(err)
	}
	b, a := release.Builds[0], release.Archives[0]
	if fmt.Sprint(b.Env, b.Goos, b.Goarch) != "[CGO_ENABLED=0] [linux] [amd64 arm64]" {
		t.Errorf("builds %+v", b)
	}
	name := strings.NewReplacer("{{ .Version }}", "${version}", "{{ .Os }}", "linux", "{{ .Arch }}", "$arch").Replace(a.Name) + "." + a.Formats[0]
	if script := load(t).Runs.Steps[0].Run; !strings.Contains(script, "archive="+name+"\n") {
		t.Errorf("action.yml does not fetch %s", name)
	}
}

// GoReleaser writes a formula below dist/homebrew and uploads what the release names.
func TestTheFormulaIsAnAsset(t *testing.T) {
	var config struct {
		Brews   []struct{ Name, Directory string }
		Release struct {
			ExtraFiles []struct{ Glob string } `yaml:"extra_files"`
		}
	}
	if err := yaml.Unmarshal([]byte(read(t, filepath.Join(sandboxtest.ModuleRoot(t), ".goreleaser.yaml"))), &config); err != nil {
		t.Fatal(err)
	}
	if len(config.Brews) == 0 {
		t.Fatal("there is no formula")
	}
	for _, b := range config.Brews {
		want := "./" + path.Join("dist", "homebrew", b.Directory, b.Name+".rb")
		if files := config.Release.ExtraFiles; len(files) != 1 || files[0].Glob != want {
			t.Errorf("the release has the further files %v; want %s", files, want)
		}
	}
}

// definition is action.yml.
type definition struct {
	Name, Description string
	Inputs            map[string]struct {
		Description string
		Required    bool
		Default     *string
	}
	Outputs map[string]struct{ Description, Value string }
	Runs    struct {
		Using string
		Steps []step
	}
}

type step struct {
	Name, ID, If, Shell, Run, Uses string
	Env, With                      map[string]string
}

func load(t testing.TB) definition {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(sandboxtest.ModuleRoot(t), "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	var d definition
	if err := yaml.Unmarshal(data, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

func read(t testing.TB, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// pinned is an action by its commit, with the version beside it for people.
var pinned = regexp.MustCompile(`^[\w.-]+/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$`)

// A name can be moved to other code; a commit and a digest cannot.
func TestWorkflowsAndImagesArePinned(t *testing.T) {
	root := sandboxtest.ModuleRoot(t)
	files, err := filepath.Glob(filepath.Join(root, ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	uses := regexp.MustCompile(`(?m)^\s*(?:- )?uses:\s*(.+)$`)
	samples, err := filepath.Glob(filepath.Join(root, "deploy", "github", "*.yml"))
	if err != nil || len(samples) == 0 {
		t.Fatal(samples, err)
	}
	for _, file := range append(append(files, samples...), filepath.Join(root, "action.yml")) {
		for _, m := range uses.FindAllStringSubmatch(read(t, file), -1) {
			if used := m[1]; !strings.HasPrefix(used, "./ ") && !pinned.MatchString(used) {
				t.Errorf("%s: %s is not pinned to a commit", filepath.Base(file), used)
			}
		}
	}
	dockerfile := read(t, filepath.Join(root, "Dockerfile"))
	images := regexp.MustCompile(`(?m)^(?:ARG BASE=|FROM )(\S+)`).FindAllStringSubmatch(dockerfile, -1)
	if len(images) == 0 {
		t.Error("the Dockerfile names no image")
	}
	for _, m := range images {
		if m[1] != "${BASE}" && !regexp.MustCompile(`^\S+@sha256:[0-9a-f]{64}$`).MatchString(m[1]) {
			t.Errorf("Dockerfile: %s is not pinned to a digest", m[1])
		}
	}
}
