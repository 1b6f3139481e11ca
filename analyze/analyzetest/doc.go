// Package analyzetest writes the logs that tests judge, as a run would write them.
//
// It must never be imported by anything but tests.
package analyzetest
