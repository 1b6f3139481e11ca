package profile

import (
	"path"
	"slices"
	"strings"
)

// listers are the programs of the system that list processes. They open more of each process
// than they print.
var listers = []string{"/bin/ps", "/usr/bin/ps", "/bin/pgrep", "/usr/bin/pgrep", "/bin/pidof", "/usr/bin/pidof", "/usr/bin/lsof", "/usr/bin/fuser", "/usr/bin/top", "/bin/top"}

// listsOnly reports whether a program lists processes, and was not asked for their
// environment, as "ps axe" and "ps -o environ" ask (ps(1)).
func listsOnly(exe string, argv []string) bool {
	if !slices.Contains(listers, exe) || len(argv) == 0 {
		return false
	}
	value := false
	for _, a := range argv[1:] {
		switch {
		case strings.Contains(a, "environ"):
			return false
		case value:
			value = false
		case path.Base(exe) == "ps" && !strings.HasPrefix(a, "-") && strings.Contains(a, "e") && strings.IndexFunc(a, isNoLetter) < 0:
			return false
		case strings.HasSuffix(a, "o") || a == "--format" || a == "--sort":
			value = true
		}
	}
	return true
}

func isNoLetter(c rune) bool { return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') }
