package rules

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// codeEndings are of files that the programs whose directory they lie in run.
var codeEndings = []string{
	".py", ".pth", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".sh", ".bash", ".zsh", ".fish", ".rb", ".lua", ".vim", ".el", ".pl", ".r", ".jl", ".ps1", ".php", ".gdb", ".tcl",
}

// isOthersCode reports whether a path below HOME is of code in a hidden directory that has no name of the
// server's: the program of that directory runs it.
func (r *Run) isOthersCode(below string) bool {
	top, rest, inside := strings.Cut(below, "/")
	if inside && top == ".config" {
		top, rest, inside = strings.Cut(rest, "/")
		top = "." + top
	}
	if !inside || !strings.HasPrefix(top, ".") || slices.Contains([]string{".cache", ".local", ".Trash"}, top) || !slices.Contains(codeEndings, strings.ToLower(path.Ext(rest))) {
		return false
	}
	words := nameWords(r.Surface.Server.Name)
	return !slices.ContainsFunc(nameWords(top), func(w string) bool {
		return len(w) >= leastStem && slices.ContainsFunc(words, func(own string) bool {
			return strings.HasPrefix(own, w) || strings.HasPrefix(w, own) && len(own) >= leastStem
		})
	})
}

// toolSettings are the names that tools of development give to the settings that they read in a working tree: code, or
// the name of code that they load.
var toolSettings = lazyregexp.New(`^(?:[\w-]+(?:\.[\w-]+)*\.config\.[cm]?[jt]s|\.[a-z][\w-]*rc(?:\.(?:[cm]?[jt]s|json|ya?ml|toml))?|\.[\w-]+\.[cm]js)$`)
