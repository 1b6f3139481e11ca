// Package recorder has the programs that record, within a server's own processes, which of
// its code runs: a start-up hook of Python, and a module that Node.js loads first.
//
// They write at once what is new, since a server that is killed writes nothing at its end.
// The server can see them, so they belong to a run of its own. What they write is a
// coverage.Recording.
//
// The programs must never change what the server prints or answers, nor end it.
package recorder
