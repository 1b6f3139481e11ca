// Package network tests what a server can do with the sandbox's network, end to end.
// It must never let a server reach a real address.
package network
