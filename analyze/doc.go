// Package analyze judges a run: a log goes in, a Result comes out.
//
// It must never need more than the log (and the audit's report), nor give
// different answers to the same log.
package analyze
