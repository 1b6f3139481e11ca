// Package fake is a backend in memory: the tests' own code answers in place of a server and
// its agent, or a recorded run does. It needs no process, root, network or Docker.
//
// It must never be imported by anything but tests, nor wait for the clock: what it emits
// follows from what it is sent.
package fake
