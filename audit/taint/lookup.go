package taint

import (
	"slices"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

var (
	// tableNames are names of what holds entries by their keys.
	tableNames = lazyregexp.New(`(?:s|[mM]ap|[rR]egistry|[sS]tore|[cC]ache|[tT]able|[iI]ndex|By[A-Z]\w*|_by_\w+|S|MAP|REGISTRY|STORE|CACHE|TABLE|INDEX|_BY_\w+)$`)
	// selects is a query for the rows with one value.
	selects = lazyregexp.New(`(?is)^\s*select\b[^;]*=\s*(?:\?|\$1|%s|:\w+)\s*(?:limit 1\s*)?;?\s*$`)
)

// looked is the value of an entry that a call looks up by a key. Where the entry is there, the key is one of those of
// the table or the database: it was not made up for this call.
func (f *frame) looked(c *callInfo, v *value) *value {
	if v == nil || len(v.yes)+len(v.no) > 0 || len(c.call.Args) != 1 || c.recv == nil || c.recv.tainted() || !f.isTable(c) {
		return v
	}
	return v.checkedBy(f.checks(c.call.Args[0].Value, f.inherited(all&^request)))
}

// isTable reports whether a call looks an entry up in a table by its key, or a row by a prepared query.
func (f *frame) isTable(c *callInfo) bool {
	if query, ok := c.receiver.(lang.Call); ok && (c.method == "get" || c.method == "first") {
		m, ok := query.Func.(lang.Attr)
		if !ok || m.Name != "prepare" || len(query.Args) != 1 {
			return false
		}
		k, ok := lang.Fold(query.Args[0].Value)
		return ok && selects.MatchString(k.Text)
	}
	// A name of a module is one of a client, which asks for what it is given.
	ofModule := slices.ContainsFunc(c.names, func(n string) bool { return n != "Map().get" })
	return c.method == "get" && tableNames.MatchString(lastOf(c.receiver)) && !ofModule
}

// checkedBy is a value that says of others, where it is true, what they are then.
func (v *value) checkedBy(list []check) *value {
	if len(list) == 0 {
		return v
	}
	out := *v
	out.yes = list
	return &out
}
