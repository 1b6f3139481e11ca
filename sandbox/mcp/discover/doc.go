// Package discover finds, in a tree of files, the configurations that name MCP servers, and
// what else an agent would run there: hooks, skills and plugins.
//
// A tree is hostile input. The package must never execute, fetch or expand anything, never
// read a file outside the tree, also not through a link, and never leave out a fault
// silently: what it could not look at is an error with a place.
package discover
