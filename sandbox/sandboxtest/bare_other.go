//go:build !linux

package sandboxtest

func probeNamespaces() string { return "namespaces are Linux's" }
