// Package coverage says which of a package's own code ran, and which of the code that acts
// on the world never did.
//
// Read lists the functions of a source, with what they do to the world and what they may
// call. A Recording is what the recorders in the sandbox wrote about a run. Compare joins
// the two: what no run came to may do anything, so a verdict must not pass over it.
//
// The package must never run, import or fetch what it reads. A recording comes from the
// server's own process, so it is bounded, and never trusted to be well-formed.
package coverage
