// Package servers tests what probes find in whole servers, honest, vulnerable and
// hostile ones, end to end. It must never tune a verdict to a server's name.
package servers
