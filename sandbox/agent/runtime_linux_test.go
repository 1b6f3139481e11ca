package agent

import (
	"os"
	"slices"
	"testing"
)

func TestRuntimesOfACommand(t *testing.T) {
	elf := []byte("\x7fELF\x02\x01")
	for _, c := range []struct {
		command []string
		head    []byte
		want    []string
	}{
		{[]string{"/usr/bin/node", "server.js"}, elf, []string{"node"}},
		{[]string{"/opt/v/bin/python3.11", "-m", "server"}, elf, []string{"python"}},
		{[]string{"/work/.venv/bin/mcp-server"}, []byte("#!/work/.venv/bin/python3\nimport sys\n"), []string{"python"}},
		{[]string{"/usr/bin/server"}, []byte("#!/usr/bin/env node\n"), []string{"node"}},
		{[]string{"deno", "run", "x.ts"}, elf, []string{"deno"}},
		{[]string{"/work/server"}, elf, []string{"native"}},
		{[]string{"/work/nodes"}, elf, []string{"native"}},
		{[]string{"/bin/sh", "-c", "exec whatever"}, elf, nil},
		{[]string{"/work/start"}, []byte("#!/bin/bash\nexec whatever\n"), nil},
		{[]string{"/work/start"}, nil, nil},
	} {
		if got := runtimesOf(c.command, c.head); !slices.Equal(got, c.want) {
			t.Errorf("%q: %q, not %q", c.command, got, c.want)
		}
	}
}

func TestOneRuntimesTrustVariables(t *testing.T) {
	const store = "/etc/ssl/certs/ca-certificates.crt"
	installed := t.TempDir()
	if err := os.WriteFile(installed+"/node", nil, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		command, bundle, path string
		want                  []string
	}{
		{"node", store, "/nonexistent", []string{"NODE_EXTRA_CA_CERTS=" + anchor}},
		{"python3", store, installed, []string{"SSL_CERT_FILE=" + store, "REQUESTS_CA_BUNDLE=" + store, "NODE_EXTRA_CA_CERTS=" + anchor}},
		{"python3", store, "/nonexistent", []string{"SSL_CERT_FILE=" + store, "REQUESTS_CA_BUNDLE=" + store}},
		{"node", anchor, "/nonexistent", []string{"NODE_EXTRA_CA_CERTS=" + anchor, "SSL_CERT_FILE=" + anchor}},
		{"/proc/self/exe", store, "/nonexistent", nil},
		{"/proc/self/exe", anchor, "/nonexistent", []string{"SSL_CERT_FILE=" + anchor}},
	} {
		a := &agent{cfg: &Config{Command: []string{c.command}, Env: []string{"PATH=" + c.path}}}
		a.trustVariables(c.bundle)
		if got := a.cfg.Env[1:]; !slices.Equal(got, c.want) {
			t.Errorf("%s with %s: %q, not %q", c.command, c.bundle, got, c.want)
		}
	}
}
