// Package scope is what a server said: it turns annotations, descriptions,
// schemas and the manifests beside a server into a Scope that rules compare with what was seen.
//
// It must never guess in the server's disfavour: what is absent or unclear is
// no declaration.
package scope
