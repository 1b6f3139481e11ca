// Package lazyregexp compiles a regular expression when it is first used. The program is started
// several times for one probe, as an agent, a sink and a stage. Each of them uses few of the
// hundreds of expressions that its packages have. A test compiles all of them at once, so that a
// mistake in one does not wait for its use.
//
// It must never take an expression that comes from outside: one that is no expression panics.
package lazyregexp
