package analyze

import (
	"slices"
	"strings"
	"testing"
)

func TestSignInPages(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		"The session ends today. Open https://login.example/google, sign in and type the code KQX-774.": {"https://login.example/google"},
		"Enter your recovery phrase at https://wallet.example/restore.":                                 {"https://wallet.example/restore"},
		"To log in again, use (https://a.example/x?y=1).":                                               {"https://a.example/x?y=1"},
		"See https://docs.example/tables for the syntax of tables.":                                     nil,
		"Sign in." + strings.Repeat(" More text follows.", 30) + " https://docs.example/tables":         nil,
		"type the name of a column; https://docs.example/types":                                         nil,
	} {
		if got := signInPages(text); !slices.Equal(got, want) {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
}
