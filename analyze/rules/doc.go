// Package rules compares what a server said with what it did. A rule a file;
// each carries its own documentation and all else that is particular to it, and its
// test shows it firing and quiet. What the detectors of a log say becomes findings here.
//
// It must never accuse: a finding says what was observed and what was declared.
package rules
