// Package advise writes what was observed of servers for agents to read: a
// fenced block for AGENTS.md or CLAUDE.md, and lines fit for a model.
//
// It must never pass on a word that a server wrote: only rules, counts, places
// and names of plain letters leave it, as what it writes is read as instructions.
package advise
