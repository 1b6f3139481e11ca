package rules

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// shells are the programs that read a command from the argument after -c.
var shells = []string{"sh", "bash", "dash", "ash", "zsh", "ksh", "busybox"}

// leastSpoken is the shortest argument that is told from other text of a command.
const leastSpoken = 4

// shellText is the command that a shell was given in its arguments, "" for none.
func shellText(argv []string) string {
	if len(argv) < 3 || !slices.Contains(shells, path.Base(argv[0])) {
		return ""
	}
	for i, a := range argv[1 : len(argv)-1] {
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.HasSuffix(a, "c") {
			return argv[i+2]
		}
	}
	return ""
}

// spoken are the findings for arguments with shell syntax that stood in a shell's command where
// the shell reads it. Whether the command came to them does not matter.
func (r *Run) spoken() []finding.Finding {
	var out []finding.Finding
	for _, e := range r.effects(finding.Exec) {
		command := shellText(e.Argv)
		if command == "" || e.Call == 0 {
			continue
		}
		t := r.Scope.Tool(e.Tool)
		var args map[string]any
		if json.Unmarshal(r.Args[e.Call], &args) != nil {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(args)) {
			at := "/" + session.EscapePointer(name)
			if runsCommands(&t, at) || len(r.Scope.Purpose.Shell) > 0 || !slices.ContainsFunc(texts(args[name], nil), func(arg string) bool { return shellReads(command, arg) }) {
				continue
			}
			f := r.of(&cm301Doc, e, "argument “"+name+"” of “"+e.Tool+"” stands in a shell's command where its syntax counts")
			f.Severity, f.Fingerprint = finding.High, finding.Fingerprint(cm301Doc.ID, e.Tool, at)
			out = append(out, f)
		}
	}
	return out
}

// shellReads reports whether an argument stands in a shell's command, and the shell takes some
// of it for syntax: operators and substitutions outside of quotes, substitutions and the
// closing quote within double ones, and the closing quote within single ones.
func shellReads(command, arg string) bool {
	if len(arg) < leastSpoken || !strings.ContainsAny(arg, ";|&$`()<>\n\"'") {
		return false
	}
	for from := 0; ; {
		i := strings.Index(command[from:], arg)
		if i < 0 {
			return false
		}
		at := from + i
		quote, read := quoteAt(command[:at]), arg
		if quote != '\'' && strings.HasSuffix(command[:at], `\`) {
			read = arg[1:] // its first character is escaped
		}
		switch {
		case quote == 0 && strings.ContainsAny(read, ";|&$`()<>\n"), quote == '"' && substitutes(read), quote == '\'' && strings.Contains(arg, "'"):
			return true
		}
		from = at + 1
	}
}

// substitutes reports whether a shell takes some of a text within double quotes for syntax.
func substitutes(arg string) bool {
	for i := range len(arg) {
		switch {
		case i > 0 && arg[i-1] == '\\':
		case arg[i] == '`', arg[i] == '"', arg[i] == '$' && i+1 < len(arg) && strings.IndexByte("({", arg[i+1]) >= 0:
			return true
		}
	}
	return false
}

// quoteAt is the quotation mark that is open at the end of a part of a shell's command, 0 for none
// (POSIX.1-2017, Shell Command Language, section 2.2).
func quoteAt(command string) (open byte) {
	for i := 0; i < len(command); i++ {
		switch c := command[i]; {
		case c == '\\' && open != '\'':
			i++
		case c == open:
			open = 0
		case open == 0 && (c == '"' || c == '\''):
			open = c
		}
	}
	return open
}
