package cli

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

// Each container of the manifests starts a command with flags that it has.
func TestManifestsStartCommands(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(moduleRoot, "deploy", "kubernetes", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	files = append(files, filepath.Join(moduleRoot, "deploy", "spy-daemonset.yaml"))
	seen := 0
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		d := yaml.NewDecoder(bytes.NewReader(data))
		for {
			var doc any
			if err := d.Decode(&doc); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			for _, args := range arguments(doc) {
				seen++
				if err := checkCommand("coalmine " + strings.Join(args, " ")); err != nil {
					t.Errorf("%s: coalmine %s: %v", file, strings.Join(args, " "), err)
				}
			}
		}
	}
	if seen != 4 {
		t.Errorf("%d commands", seen)
	}
}

// directive is a line of a unit that sets something.
var directive = regexp.MustCompile(`^([A-Z][A-Za-z]+)=(.+)$`)

// unit reads a unit of systemd: sections of directives, by section and name. A directive that is set twice is an
// error, as only some may be.
func unit(data string) (map[string]map[string]string, error) {
	out, section := map[string]map[string]string{}, ""
	for line := range strings.Lines(data) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if name, ok := strings.CutPrefix(line, "["); ok {
			section = strings.TrimSuffix(name, "]")
			out[section] = map[string]string{}
			continue
		}
		m := directive.FindStringSubmatch(line)
		if m == nil || out[section] == nil || out[section][m[1]] != "" {
			return nil, fmt.Errorf("line %q of section %q", line, section)
		}
		out[section][m[1]] = m[2]
	}
	return out, nil
}

// The unit of coalmine spy starts a command with flags that it has, as nobody in particular, and with the
// capabilities that it needs and no other.
func TestSpyUnit(t *testing.T) {
	t.Parallel()
	const file = "coalmine-spy.service"
	data, err := os.ReadFile(filepath.Join(moduleRoot, "deploy", file))
	if err != nil {
		t.Fatal(err)
	}
	u, err := unit(string(data))
	if err != nil {
		t.Fatal(err)
	}
	const program = "/usr/local/bin/coalmine"
	if err := checkCommand(strings.TrimPrefix(u["Service"]["ExecStart"], "/usr/local/bin/")); err != nil || !strings.HasPrefix(u["Service"]["ExecStart"], program+" spy ") {
		t.Errorf("%s: %v", u["Service"]["ExecStart"], err)
	}
	const needs = "CAP_BPF CAP_PERFMON CAP_SYS_PTRACE"
	for name, want := range map[string]string{
		"AmbientCapabilities": needs, "CapabilityBoundingSet": needs, "DynamicUser": "yes", "NoNewPrivileges": "yes",
		"ProtectSystem": "strict", "ProtectHome": "yes", "PrivateNetwork": "yes", "PrivateDevices": "yes", "MemoryDenyWriteExecute": "yes",
	} {
		if got := u["Service"][name]; got != want {
			t.Errorf("%s is %q, not %q", name, got, want)
		}
	}
	if u["Install"]["WantedBy"] == "" || u["Unit"]["Description"] == "" {
		t.Errorf("%v", u)
	}
	t.Run("systemd", func(t *testing.T) { verified(t, file, strings.Replace(string(data), program, "/bin/true", 1)) })
	for _, bad := range []string{"[Service]\nExecStart", "ExecStart=/bin/true", "[Service]\nUMask=1\nUMask=2"} {
		if _, err := unit(bad); err == nil {
			t.Errorf("%q is taken for a unit", bad)
		}
	}
}

// verified has systemd read a unit, which it does without a word.
func verified(t *testing.T, name, data string) {
	t.Helper()
	tool, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("systemd-analyze is not here")
	}
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), tool, "verify", "--man=no", file).CombinedOutput(); err != nil || len(said) > 0 {
		t.Errorf("%v: %s", err, said)
	}
}

// arguments are the members "args" of a document.
func arguments(v any) (out [][]string) {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			list, ok := member.([]any)
			if name != "args" || !ok {
				out = append(out, arguments(member)...)
				continue
			}
			var words []string
			for _, w := range list {
				text, _ := w.(string)
				words = append(words, text)
			}
			out = append(out, words)
		}
	case []any:
		for _, member := range v {
			out = append(out, arguments(member)...)
		}
	}
	return out
}

// The action prints each format that coalmine has.
func TestTheActionTakesAllFormats(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(filepath.Join(moduleRoot, "action.yml"))
	if err != nil {
		t.Fatal(err)
	}
	if want := "error: the format is not one of " + strings.Join(formats, ", ") + `"`; !strings.Contains(string(data), want) {
		t.Errorf("action.yml does not say %s", want)
	}
}
