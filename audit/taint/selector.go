package taint

import (
	"slices"
	"strings"
)

// documentModules are packages by which a server talks to a database of documents.
var documentModules = set("mongodb mongoose monk nedb @seald-io/nedb nedb-promises mongojs mongoist promised-mongo pouchdb pymongo motor mongoengine beanie mongomock asyncmongo tinydb_mongo")

// documents reports whether the package talks to a database of documents: only there is a
// method named find one of a collection.
func (a *analysis) documents() bool {
	if a.hasDocuments == nil {
		has := false
		for _, s := range a.sources {
			for _, i := range s.facts.Imports {
				first, _, _ := strings.Cut(i.Module, ".")
				has = has || documentModules[i.Module] || documentModules[first]
			}
		}
		a.hasDocuments = &has
	}
	return *a.hasDocuments
}

// evaluated are the operators of a query whose text the database runs as code:
// https://www.mongodb.com/docs/manual/reference/operator/query/where/.
var evaluated = set("$where $function $accumulator")

// maxSelector bounds how deep the operators of a query are looked for.
const maxSelector = 6

// selectBy notes what chooses documents. A caller who supplies an object in place of a text
// supplies operators ($ne, $gt) with it; in an operator that is run, a text is code.
func (f *frame) selectBy(v *value, name string, c *callInfo) {
	f.report(selector, v.taints, name, c)
	f.selectWithin(v, name, c, 0)
}

func (f *frame) selectWithin(v *value, name string, c *callInfo, depth int) {
	if depth > maxSelector {
		return
	}
	for _, k := range sortedKeys(v.fields) {
		field := v.fields[k]
		if evaluated[k] {
			f.report(selector, within943(field.flat(), code), name, c)
			continue
		}
		f.report(selector, within943(field.taints, selector), name, c)
		f.selectWithin(field, name, c, depth+1)
	}
	for _, item := range v.items {
		f.report(selector, within943(item.taints, selector), name, c)
		f.selectWithin(item, name, c, depth+1)
	}
}

// within943 are the taints within a query that are not safe for a class. What the caller
// chooses there is a part of the query, whatever the parameter is called.
func within943(list []taint, unless class) []taint {
	out := slices.DeleteFunc(slices.Clone(list), func(t taint) bool { return t.safe&unless != 0 })
	for i := range out {
		out[i].safe &^= selector
		out[i].joined = true
	}
	return out
}

// texts are functions whose result is a text, and parsers those whose result may be an object.
var (
	texts   = set("str repr ascii format String JSON.stringify json.dumps html.escape html.unescape escape unescape encodeURIComponent decodeURIComponent urllib.parse.unquote urllib.parse.unquote_plus String.raw")
	parsers = set("JSON.parse json.loads json.load yaml.safe_load ast.literal_eval querystring.parse qs.parse")
	// ofText are methods that only a text has.
	ofText = set("trim trimStart trimEnd toLowerCase toUpperCase toString padStart padEnd substring normalize charAt strip lstrip rstrip lower upper title capitalize casefold swapcase removeprefix removesuffix zfill")
)

// retyped is the result of a function that makes a text of a value or a value of a text, nil
// for others.
func retyped(n string, list []*value) *value {
	if len(list) == 0 {
		return nil
	}
	switch {
	case texts[n]:
		return union(list).plain().withoutMade().safer(selector)
	case parsers[n]:
		return union(list).plain().withoutMade().with(func(t *taint) { t.safe &^= selector })
	}
	return nil
}
