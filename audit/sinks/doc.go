// Package sinks knows which functions of libraries act on the world, and finds where the
// functions of a package use them.
//
// Of maps a resolved name to the kinds of what it does. Functions lists, for the sources of
// one package, each function with its sinks and with the functions that it calls, and
// Handlers lists those that answer a client of MCP, so that what a tool can reach is a
// walk from one to the other. The tree and its facts are those of audit/lang, which
// knows no library: what a name means is knowledge of its own, and changes more often.
//
// Calls are over-approximated: a method of an unknown object may be any method of the
// package with that name. Sinks are not: what has no name here is not listed.
//
// The package must never run, import or fetch what it reads.
package sinks
