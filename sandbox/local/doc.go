// Package local makes sandboxes from Linux namespaces, as root or as an
// ordinary user: it works out what of the host a server needs to see, and
// starts the agent where there is nothing else.
//
// It must never execute anything of the host's to find that out, show the
// target a file of the user's own beyond the server's code, or leave a process,
// mount or file behind.
package local
