// Package registry lets npm, pip, uv, go and git fetch from the user's registries
// while they run in a sandbox without a network.
//
// Load reads which registries the user has configured, and with which credentials.
// A Proxy stands on the host: the sandbox's client reaches it over one listener or
// single connections, with the configuration that Proxy.Client returns. The proxy
// ends the client's TLS, checks each request against the registries, and speaks TLS
// to the registry itself, with the credential of that registry.
//
// It must never run a tool of the user's, read the configuration of a project, give
// a credential to the client or to a host other than its registry's, reach an
// internal address that no setting names, nor believe a byte of a client or a registry.
package registry
