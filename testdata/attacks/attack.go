package attacks

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// Families are what an attacker wants.
var Families = []string{"escape", "reach", "read", "write", "exhaust", "hide", "forge", "switch-off"}

// Parties are who may be hostile.
var Parties = []string{"server", "package", "registry", "checkout", "configuration", "pull request", "log", "peer", "local user"}

// Deeds are how it shows that an attack succeeded.
var Deeds = []string{
	"touched", // a file of @HOST@ is not what was planted
	"said",    // the proof or the secret is in an output
	"reached", // somebody connected to a listener of the red team
	"silent",  // the proof was said, and no finding or gap has the words of "named"
	"checked", // deed.sh ends with status 0
}

// Attack is one archive of an attack.
type Attack struct {
	// Family and Name are the archive's directory and its name without the suffix.
	Family, Name string
	// What is done, in a sentence, and where it was published ("" for nowhere).
	What, Reads string
	// By is the hostile party.
	By string
	// Deed shows that the attack succeeded.
	Deed string
	// Named has to match a finding or a gap, where it is set. Refused is what coalmine prints
	// where it does not start the server at all: any other reason says that the attack is ill made.
	Named, Refused *regexp.Regexp
	// Reached are what the evidence of a run must have, to show that the attacked step was come
	// to: see scene.evidence. A server says so itself, when it is called.
	Reached []*regexp.Regexp
	// NotClean forbids the verdict clean and the exit status 0.
	NotClean bool
	// Within is the time that an attack on the time must be over in, 0 for none.
	Within time.Duration
	// Backends are those in which the attack makes sense; "host" is no sandbox at all.
	Backends []string
	// HostNet leaves the control in the host's network namespace.
	HostNet bool
	// Flags are more flags of coalmine probe.
	Flags string
	// Files are what is laid out.
	Files []txtar.File
	// Hash is the archive's.
	Hash string
}

// ID is the attack's family and name.
func (a *Attack) ID() string { return a.Family + "/" + a.Name }

// Script returns a file of the archive, "" for none.
func (a *Attack) Script(name string) string {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

// IsServer reports whether the attack is an MCP server that is probed.
func (a *Attack) IsServer() bool { return a.Script("attack.sh") == "" }

// speaks reports whether the attack has a server that says when it was called.
func (a *Attack) speaks() bool { return strings.Contains(a.Script("server.py"), "from mcp import") }

// Parse reads one archive.
func Parse(family, name string, data []byte) (*Attack, error) {
	sum := sha256.Sum256(data)
	ar := txtar.Parse(data)
	a := &Attack{Family: family, Name: name, Files: ar.Files, Hash: hex.EncodeToString(sum[:]), By: "server"}
	for line := range strings.Lines(string(ar.Comment)) {
		line = strings.TrimSpace(line)
		key, value, isKey := strings.Cut(line, ": ")
		if !isKey || strings.Contains(key, " ") {
			a.What = strings.TrimSpace(a.What + " " + line)
			continue
		}
		if err := a.set(key, value); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", a.ID(), key, err)
		}
	}
	if a.Within == 0 && a.Family == "exhaust" {
		a.Within = 200 * time.Second
	}
	if len(a.Backends) == 0 {
		a.Backends = []string{"local", "docker"}
		if a.IsServer() {
			a.Backends = append(a.Backends, "inplace")
		}
	}
	return a, a.complete()
}

func (a *Attack) set(key, value string) (err error) {
	switch key {
	case "by":
		a.By = value
	case "deed":
		a.Deed = value
	case "reads":
		a.Reads = value
	case "named":
		a.Named, err = regexp.Compile(value)
	case "refused":
		a.Refused, err = regexp.Compile(value)
	case "reached":
		var re *regexp.Regexp
		re, err = regexp.Compile("(?m)" + value)
		a.Reached = append(a.Reached, re)
	case "verdict":
		a.NotClean = value == "not-clean"
	case "within":
		a.Within, err = time.ParseDuration(value)
	case "backends":
		a.Backends = strings.Fields(value)
	case "network":
		a.HostNet = value == "host"
	case "flags":
		a.Flags = value
	default:
		return fmt.Errorf("this key is not known")
	}
	return err
}

// complete says what an archive lacks.
func (a *Attack) complete() error {
	switch {
	case !slices.Contains(Families, a.Family):
		return fmt.Errorf("%s: the family is not known", a.ID())
	case !slices.Contains(Parties, a.By):
		return fmt.Errorf("%s: by %q is not known", a.ID(), a.By)
	case !slices.Contains(Deeds, a.Deed):
		return fmt.Errorf("%s: the deed %q is not known", a.ID(), a.Deed)
	case a.What == "":
		return fmt.Errorf("%s does not say what it does", a.ID())
	case a.Deed == "silent" && a.Named == nil:
		return fmt.Errorf("%s: a silent deed needs what must be named", a.ID())
	case a.Deed == "checked" && a.Script("deed.sh") == "":
		return fmt.Errorf("%s has no deed.sh", a.ID())
	case a.IsServer() && a.Script("server.py") == "":
		return fmt.Errorf("%s has neither server.py nor attack.sh", a.ID())
	case !a.speaks() && !a.IsServer() && len(a.Reached) == 0:
		return fmt.Errorf("%s does not say what shows that it was reached", a.ID())
	case !a.IsServer() && a.Script("control.sh") == "":
		return fmt.Errorf("%s has no control.sh", a.ID())
	}
	return nil
}

// Load reads all archives below a directory, in the order of their names.
func Load(dir fs.FS) ([]*Attack, error) {
	names, err := fs.Glob(dir, "*/*.txtar")
	if err != nil {
		return nil, err
	}
	var out []*Attack
	for _, name := range names {
		data, err := fs.ReadFile(dir, name)
		if err != nil {
			return nil, err
		}
		a, err := Parse(path.Dir(name), strings.TrimSuffix(path.Base(name), ".txtar"), data)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}
