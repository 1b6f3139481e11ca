package profile

import (
	"path"
	"strings"
)

// searchesHere reports whether a command makes Python put the directory it is started in first into its search path for
// modules: with -m, -c and a program on its stdin, unless -I or -P leave it out (Python's documentation of sys.path).
func searchesHere(argv []string) bool {
	if len(argv) < 2 || !strings.HasPrefix(path.Base(argv[0]), "python") {
		return false
	}
	for i := 1; i < len(argv); i++ {
		option := argv[i]
		switch {
		case option == "-":
			return true
		case !strings.HasPrefix(option, "-") || strings.HasPrefix(option, "--"):
			return false // a script, whose own directory counts
		}
		decides := strings.IndexAny(option, "IPmcWX")
		switch {
		case decides < 0:
		case strings.ContainsRune("IP", rune(option[decides])):
			return false
		case strings.ContainsRune("mc", rune(option[decides])):
			return true
		case decides == len(option)-1: // -W and -X take what follows
			i++
		}
	}
	return false
}
