// Package plantest makes plans for runs in a fake backend: of a scripted server, and of a
// run that was recorded.
//
// It must never be imported by anything but tests.
package plantest
