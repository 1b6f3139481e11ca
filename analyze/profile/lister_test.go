package profile

import (
	"strings"
	"testing"
)

func TestListsOnly(t *testing.T) {
	for command, want := range map[string]bool{
		"/usr/bin/ps ax -ww -o pid,ppid,uid,gid,args": true,
		"/usr/bin/ps aux":                    true,
		"/usr/bin/ps -eo pid,comm":           true,
		"/usr/bin/ps -ef":                    true,
		"/usr/bin/pgrep -f next-server":      true,
		"/usr/bin/ps axeo pid,args":          false,
		"/usr/bin/ps axe":                    false,
		"/usr/bin/ps eww 1":                  false,
		"/usr/bin/ps -o pid,environ":         false,
		"/usr/bin/ps -e -o environ":          false,
		"/home/user/.local/bin/ps aux":       false,
		"/usr/bin/python3 read.py":           false,
		"/usr/bin/ps -o user --sort command": true,
		"/usr/bin/ps --sort user ewwww":      false,
	} {
		argv := strings.Fields(command)
		if got := listsOnly(argv[0], argv); got != want {
			t.Errorf("%s: %v", command, got)
		}
	}
}
