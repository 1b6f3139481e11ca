// Package serve shows the session logs and reports of one directory: to a model as
// read-only MCP tools, and to a person as pages on loopback.
//
// It must never read outside that directory, follow a link out of it or write
// anything. The tools pass on no word of a logged server, since a model reads what
// they return. The pages show such words escaped, run no script, and answer only
// who knows the address's secret path.
package serve
