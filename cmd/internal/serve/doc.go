// Package serve is coalmine as an MCP server: read-only tools over the session
// logs and reports of one directory.
//
// It must never read outside that directory, follow a link out of it, write
// anything, or pass a word on to its client that a logged server wrote: what it
// returns is read by a model.
package serve
