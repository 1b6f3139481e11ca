// Package handout finds code in a text that sends secrets to a host: a workflow, a
// Dockerfile, a script or a command line that a server hands out for a user to run.
//
// It reads code by the parsers of package lang, and follows what a script reads through
// variables, files and pipes to what it sends.
//
// It must never run what it reads, nor take more than bounded time for any text.
package handout
