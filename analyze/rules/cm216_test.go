package rules

import (
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// A finding says what of the user's was asked for, by what the program hands out.
func TestWhatHelpersAreAskedFor(t *testing.T) {
	for asked, want := range map[string]string{
		"gh auth token": "the user's credentials: ", "git-credential-store get": "the user's credentials: ", "wl-paste": "what the user copied: ", "xsel --output": "what the user copied: ",
		"scrot": "what the user sees or says: ", "ffmpeg pulse": "what the user sees or says: ", "import -window": "what the user sees or says: ",
	} {
		list := checkCM216(newRun(note, effect("format_note", finding.Exec, "x", asks(asked))))
		if len(list) != 1 || !strings.HasSuffix(list[0].Message, " asked a program for "+want+asked) {
			t.Errorf("%s: %+v", asked, list)
		}
	}
	for text, quiet := range map[string][]string{
		"Keeps passwords":    {"gh auth token", "wl-paste"},
		"Takes a screenshot": {"scrot", "ffmpeg pulse"},
		"Pastes text":        {"wl-paste"},
		"Works with GitHub":  {"gh auth token"},
	} {
		for _, asked := range []string{"gh auth token", "wl-paste", "scrot", "ffmpeg pulse"} {
			got := len(checkCM216(newRun(described("do", text), effect("do", finding.Exec, "x", asks(asked)))))
			want := 1
			for _, q := range quiet {
				if q == asked {
					want = 0
				}
			}
			if got != want {
				t.Errorf("%s, of a server that says %q: %d findings, want %d", asked, text, got, want)
			}
		}
	}
}
