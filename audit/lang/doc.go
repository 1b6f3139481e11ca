// Package lang holds the syntax of a source file in one form for all languages.
//
// A language is a package below this one. It implements Language: it knows its own
// files and parses them into a File. Rules, the search for handlers and the ways from
// a handler to a sink read Files alone, so they are written once.
//
// The tree keeps what these readers need and no more: names, calls, constants,
// assignments, functions, control flow and positions. It does not keep comments,
// layout, operators' precedence or types.
//
// The package must never run, import or fetch anything that a source names, and a
// parser must never panic or take more than linear time and memory on any input.
package lang
