package synth

import (
	"slices"
	"strings"
	"unicode"
)

// ranks order tools so that what makes something comes before what uses it,
// and what takes it away comes last. It is soft: a name that says nothing
// stands in the middle.
var ranks = []struct {
	rank  int
	verbs []string
}{
	{takesAway, []string{"delete", "remove", "drop", "destroy", "purge", "clear", "uninstall", "unregister", "wipe", "erase", "rm"}},
	{8, []string{"close", "stop", "kill", "shutdown", "quit", "exit", "logout", "disconnect", "terminate", "end", "cancel", "finish"}},
	{7, []string{"reset", "revert", "rollback", "move", "rename", "archive", "restore", "undo", "restart"}},
	{0, []string{"init", "connect", "login", "open", "launch", "authenticate", "begin", "start"}},
	{1, []string{"create", "new", "make", "register", "mkdir", "insert", "upload", "import", "generate", "navigate", "clone"}},
	{2, []string{"add", "append", "put", "set", "attach", "stage", "enqueue", "push", "subscribe"}},
	{3, []string{"write", "save", "edit", "update", "patch", "modify", "store", "upsert", "commit", "apply", "replace"}},
	{readsRank, []string{"get", "read", "list", "search", "find", "show", "query", "fetch", "describe", "view", "count", "status", "log", "diff"}},
}

const (
	middleRank = 4
	readsRank  = 5
	takesAway  = 9
)

func rankOf(name string) int {
	words := split(name)
	for i := range words {
		if i >= 3 {
			break
		}
		for _, r := range ranks {
			if slices.Contains(r.verbs, words[i]) {
				return r.rank
			}
		}
	}
	return middleRank
}

// split breaks a name into lower-case words.
func split(name string) []string {
	var b strings.Builder
	prevLower := false
	for _, r := range name {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			b.WriteByte(' ')
		case unicode.IsUpper(r) && prevLower:
			b.WriteByte(' ')
			b.WriteRune(unicode.ToLower(r))
		default:
			b.WriteRune(unicode.ToLower(r))
		}
		prevLower = unicode.IsLower(r)
	}
	return strings.Fields(b.String())
}

// order sorts targets by rank, keeping the server's order within each.
func order(list []*target) []*target {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b *target) int { return a.rank - b.rank })
	return out
}
