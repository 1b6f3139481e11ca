// Package taint follows what a caller of a tool supplies from the tool's handler to the
// functions that act on the world.
//
// Analyze takes the parsed files of one package and starts at each handler with its
// parameters tainted. It walks the statements in order and keeps for each variable
// which parameters it comes from, through calls of the package's own functions and across files.
// Where such a value reaches a sink of table.txt, a Flow has each step of the way. A check or
// a function that really holds for a class of weaknesses ends the flow for that class:
// an allow-list, a type without text, shlex.quote, a resolved path with its prefix and a separator.
//
// A parameter that is the whole of what its name says, such as the "url" of a tool that
// fetches, is a Capability: the tool does what its caller asks for.
//
// The analysis keeps to what it knows. A function of a library that has no entry here
// returns nothing tainted. The work is bounded, and an analysis that met its bound says so.
//
// The package must never run, import or fetch what it reads.
package taint
