// Package sandboxtest is what tests of sandboxes share: what they may require
// of the machine, the fixtures' programs, a sink that remembers, and the barest
// sandbox that an agent can run in.
//
// It must never be imported by anything but tests, nor skip a test silently.
package sandboxtest
