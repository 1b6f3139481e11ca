package sinks

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// Kind is what a function does to the world.
type Kind string

// The kinds of sinks.
const (
	Read        Kind = "read"        // reads or lists files
	Write       Kind = "write"       // makes, changes or moves files
	Delete      Kind = "delete"      // removes files
	Network     Kind = "network"     // connects, sends or listens
	Process     Kind = "process"     // starts or signals a program
	Evaluate    Kind = "evaluate"    // runs code that is data
	Decode      Kind = "decode"      // decodes, decompresses or decrypts
	Environment Kind = "environment" // reads or sets variables of the environment
	SQL         Kind = "sql"         // sends a statement to a database
	Deserialize Kind = "deserialize" // makes objects of data, and may run code for it
	Home        Kind = "home"        // finds or names a place of the user's own
)

var kinds = []Kind{Read, Write, Delete, Network, Process, Evaluate, Decode, Environment, SQL, Deserialize, Home}

//go:embed table.txt
var text string

// table is by language and name. It is read at its first use.
var table = sync.OnceValue(func() map[string][]Kind {
	t, err := parse(text)
	if err != nil {
		panic(err) // the tests read the embedded table too
	}
	return t
})

// parse reads lines "language kind: name…".
func parse(text string) (map[string][]Kind, error) {
	t := map[string][]Kind{}
	err := ReadTable(text, []string{"Python", "JavaScript"}, func(language, kind string, names []string) error {
		if !slices.Contains(kinds, Kind(kind)) {
			return fmt.Errorf("%q is not a kind of sinks", kind)
		}
		for _, name := range names {
			key := language + " " + name
			t[key] = append(t[key], Kind(kind))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("sinks: %w", err)
	}
	return t, nil
}

// Of returns the kinds of what a resolved name does in a language, and the table's name
// for it. A call tells how open is used; it may be nil.
func Of(language, name string, call *lang.Call) ([]Kind, string) {
	name = canonical(language, name)
	found := lookup(language, name)
	if found == nil {
		if base, last := cutLast(name); language == "JavaScript" && (last == "call" || last == "apply") {
			name, found = base, lookup(language, base)
		}
	}
	if name == "open" || name == "io.open" || strings.HasSuffix(name, ".open") && len(found) == 2 {
		found = opens(found, name, call)
	}
	return found, name
}

// canonical is a name as the table has it.
func canonical(language, name string) string {
	if language == "JavaScript" && name != "import" && lang.Loads(name) {
		return "require"
	}
	name = strings.ReplaceAll(name, "()", "")
	if language == "Python" {
		name = strings.TrimPrefix(name, "builtins.")
		for old, now := range map[string]string{"posixpath.": "os.path.", "posix.": "os.", "nt.": "os.", "_io.": "io.", "_socket.": "socket.", "_pickle.": "pickle.", "cPickle.": "pickle."} {
			if rest, ok := strings.CutPrefix(name, old); ok {
				return now + rest
			}
		}
		return name
	}
	name = strings.TrimPrefix(name, "node:")
	name = strings.ReplaceAll(name, ".default", "")
	name = strings.Replace(name, "fs/promises", "fs", 1)
	name = strings.Replace(name, "dns/promises", "dns", 1)
	name = strings.Replace(name, "fs.promises.", "fs.", 1)
	for _, same := range []string{"fs-extra.", "graceful-fs."} {
		if rest, ok := strings.CutPrefix(name, same); ok {
			return "fs." + rest
		}
	}
	return name
}

func cutLast(name string) (base, last string) {
	i := strings.LastIndexByte(name, '.')
	return name[:max(i, 0)], name[i+1:]
}

// lookup finds a name, its prefix with ".*", or its last part behind "*.".
func lookup(language, name string) []Kind {
	if k, ok := table()[language+" "+name]; ok {
		return k
	}
	base, last := cutLast(name)
	if isPassive(last) {
		return nil
	}
	for b := base; b != ""; b, _ = cutLast(b) {
		if k, ok := table()[language+" "+b+".*"]; ok {
			return k
		}
	}
	if base != "" && !IsConstructor(language, name) {
		return table()[language+" *."+last]
	}
	return nil
}

// IsConstructor reports whether a name is from_string of a class of Python that makes a value ("RGBColor.from_string"),
// and not of an engine of templates.
func IsConstructor(language, name string) bool {
	base, found := strings.CutSuffix(name, ".from_string")
	if !found || language != "Python" {
		return false
	}
	_, class := cutLast(base)
	return class != "" && unicode.IsUpper(rune(class[0])) &&
		!slices.ContainsFunc([]string{"Environment", "Template", "Engine", "Jinja"}, func(part string) bool { return strings.Contains(class, part) })
}

// isPassive reports whether a member of a module that acts is a constant or an error by its
// name: subprocess.PIPE, subprocess.TimeoutExpired.
func isPassive(name string) bool {
	for _, end := range []string{"Error", "Exception", "Expired", "Warning"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return len(name) > 1 && name == strings.ToUpper(name) && name != strings.ToLower(name)
}

// opens says whether open reads or writes, by its mode. An unknown mode may do both.
func opens(all []Kind, name string, call *lang.Call) []Kind {
	if call == nil {
		return all
	}
	at := 1
	if strings.HasSuffix(name, "Path.open") {
		at = 0
	}
	var mode lang.Expr
	for i, a := range call.Args {
		if a.Name == "mode" || a.Name == "" && i == at {
			mode = a.Value
		}
		if _, star := a.Value.(lang.Spread); star {
			return all
		}
	}
	if mode == nil {
		return []Kind{Read}
	}
	c, ok := lang.Fold(mode)
	switch {
	case !ok:
		return all
	case strings.Contains(c.Text, "+"):
		return []Kind{Read, Write}
	case strings.ContainsAny(c.Text, "wax"):
		return []Kind{Write}
	}
	return []Kind{Read}
}
