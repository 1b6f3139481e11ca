package listing

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/config"
)

// Target is one server that can be run, at one version.
type Target struct {
	// Key is the server's identity across versions: its kind and its name, "npm:@a/b".
	Key string `json:"key"`
	// Name is what the list calls it.
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	// Words are what coalmine probe takes: a package and its arguments, or a command.
	Words []string `json:"words"`
	// Env are the variables that it asks for, with the values that the list proposes.
	Env map[string]string `json:"env,omitempty"`
	// Hash is what the list says of the content, "" where it says nothing.
	Hash string `json:"hash,omitempty"`
	// Mutable says that the same words can mean other content tomorrow: nothing of an
	// earlier run speaks for it.
	Mutable bool `json:"mutable,omitempty"`
}

// Digest is the identity of all that the list says of a target.
func (t *Target) Digest() string {
	data, _ := json.Marshal(t) // strings and maps of them
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:16])
}

// The bounds on what a list says of one server.
const (
	maxName  = 214 // npm's bound
	maxWords = 100
	maxWord  = 4096
)

// check refuses what a terminal, a path or a command line would read otherwise.
func (t *Target) check() error {
	if err := checkName(t.Name); err != nil {
		return err
	}
	if len(t.Words) == 0 || len(t.Words) > maxWords || len(t.Env) > maxWords {
		return fmt.Errorf("it has %d words and %d variables; at most %d of each are taken", len(t.Words), len(t.Env), maxWords)
	}
	for _, w := range append(slices.Clone(t.Words), t.Version) {
		if len(w) > maxWord || !utf8.ValidString(w) || strings.ContainsFunc(w, unicode.IsControl) {
			return fmt.Errorf("a word of its command has control characters, or more than %d bytes", maxWord)
		}
	}
	return checkName(t.Key)
}

// checkName refuses a name that shows as something else than it is.
func checkName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("it has no name")
	case len(name) > maxName+20:
		return fmt.Errorf("its name has %d bytes", len(name))
	case !utf8.ValidString(name):
		return fmt.Errorf("its name is not UTF-8")
	}
	for _, r := range name {
		if !unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) || r == '\u2028' {
			return fmt.Errorf("its name %q has characters that do not show", name)
		}
	}
	return nil
}

// ofServer makes a target of a configured server; why says what keeps it from being run.
func ofServer(s config.Server) (t Target, why string) {
	if len(s.Command) == 0 {
		return t, "it is reached by its address, where nobody sees what it does"
	}
	t = Target{Name: s.Name, Words: s.Command, Env: s.Env}
	l, ok := config.LaunchOf(s.Command)
	if !ok {
		t.Key, t.Mutable = "command:"+strings.Join(s.Command, " "), true
		if len(t.Key) > maxName {
			sum := sha256.Sum256([]byte(t.Key))
			t.Key = "command:" + hex.EncodeToString(sum[:8])
		}
		return t, ""
	}
	name, version := splitVersion(l.Kind, l.Package)
	t.Key, t.Version = string(l.Kind)+":"+name, version
	t.Mutable = version == "" || version == "latest" || l.Kind == config.KindOCI && !strings.HasPrefix(version, "sha256:")
	return t, ""
}

// splitVersion parts a package's name from its version.
func splitVersion(kind config.Kind, name string) (base, version string) {
	switch kind {
	case config.KindNPM:
		if i := strings.LastIndexByte(name, '@'); i > 0 {
			return name[:i], name[i+1:]
		}
	case config.KindPyPI:
		if base, version, ok := strings.Cut(name, "=="); ok {
			return base, version
		}
		if base, version, ok := strings.Cut(name, "@"); ok && !strings.Contains(version, "/") {
			return base, version
		}
	case config.KindOCI:
		if base, digest, ok := strings.Cut(name, "@"); ok {
			return base, digest
		}
		if i := strings.LastIndexByte(name, ':'); i > strings.LastIndexByte(name, '/') {
			return name[:i], name[i+1:]
		}
	}
	return name, ""
}
