// Package stage is what the program does between the agent and the target: each stage is
// a process that executes this program again, receives one order over its link to the
// agent, and becomes the target, the first process of a pid namespace, or the far end of
// a network.
//
// Stages run while the program is initialised, before the packages that they do not need:
// a sandbox starts several, and initialising all packages costs more than what they do.
// That holds only while this package imports little. It must never import a package that
// depends on regexp or net, because the linker initialises most of the program before those.
//
// It must never keep a privilege, a descriptor or a signal's disposition that the target
// is not to have.
package stage
