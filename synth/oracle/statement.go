package oracle

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// statements are whole ones for an argument that takes such, each of which changes something. The
// last ones leave a transaction that only reads.
var statements = []struct{ context, text string }{
	{"new table", "CREATE TABLE %s (id int)"},
	{"after COMMIT", "COMMIT; CREATE TABLE %s (id int)"},
	{"no such table dropped", "DROP TABLE IF EXISTS %s"},
	{"after ROLLBACK", "ROLLBACK; CREATE TABLE %s (id int)"},
}

// parts are parts of statements that leave the quotes around a value.
var parts = []struct{ context, text string }{
	{"single-quoted", "' OR %s='1"},
	{"bare", " OR %s=1"},
	{"single-quoted, commented", "' UNION SELECT %s -- "},
	{"double-quoted", "\" OR %s=\"1"},
}

// Statements is how many inputs Statement knows for an argument.
const Statements = 4

// takers are parts of the names of arguments that take whole statements.
var takers = []string{"sql", "query", "statement"}

// Statement is the k-th input for an argument of a name that a service may be told.
func Statement(k int, name, token string) Input {
	name = strings.ToLower(name)
	list, after := parts, true
	if slices.ContainsFunc(takers, func(t string) bool { return strings.Contains(name, t) }) {
		list, after = statements, false
	}
	v := list[k%len(list)]
	return Input{
		Injection: session.Injection{Oracle: session.OracleStatement, Context: v.context, Token: token},
		Text:      strings.ReplaceAll(v.text, "%s", token), Append: after,
	}
}
