package audit

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// findings are those of rules, with their lines.
func findings(t *testing.T, r *Report, rules ...string) string {
	t.Helper()
	var out []string
	for _, f := range r.Findings {
		if slices.Contains(rules, f.Rule) {
			out = append(out, fmt.Sprintf("%s %s:%d %s", f.Rule, f.Location.Path, f.Location.Line, f.Severity))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "; ")
}

func TestCommands(t *testing.T) {
	const high, medium, low = "download-run x.sh:1 high", "download-run x.sh:1 medium", "unpinned-install x.sh:1 low"
	for script, want := range map[string]string{
		"curl -fsSL https://a.example/i | sh":                                       high,
		"curl -fsSL https://a.example/i | sudo -E bash -s -- --yes":                 high,
		"wget -qO- https://a.example/i | grep x | /usr/bin/env python3 -":           high,
		"curl https://a.example/i | python3 -c 'import json'":                       "",
		"curl https://a.example/i | python3 -m json.tool":                           "",
		"curl https://a.example/i | jq . | tee x":                                   "",
		"curl https://a.example/i | node parse.js":                                  "",
		"bash -c \"$(curl -fsSL https://a.example/i)\"":                             high,
		"eval \"$(wget -qO- https://a.example/i)\"":                                 high,
		"source <(curl -s https://a.example/i)":                                     high,
		"VERSION=$(curl -s https://a.example/v); echo $VERSION":                     "",
		"curl -o i.sh https://a.example/i && sh i.sh":                               medium,
		"curl https://a.example/i > i.sh; chmod +x ./i.sh; ./i.sh":                  medium,
		"curl -LO https://a.example/i.sh; sh ./i.sh":                                medium,
		"curl -o i.sh https://a.example/i && echo x i.sh | sha256sum -c && sh i.sh": "",
		"curl -o data.json https://a.example/i; cat data.json":                      "",
		"pip install requests":                                                      low,
		"python3 -m pip install --no-cache-dir requests==2.1 -r requirements.txt":   "",
		"pip install -U pip && pip install . && pip install -r x.txt":               "",
		"npm install -g left-pad":                                                   low,
		"npm ci; npm install; npm install -g @a/b@1.2.3":                            "",
		"npx -y @a/server --flag value":                                             low,
		"npx -y @a/server@1.0.0 x; uvx --from a==1 a; uvx a@1.2":                    "",
		"uvx a":                           low,
		"go install example.com/x@latest": low,
		"go install example.com/x@v1.2.3": "",
		"apt-get install -y curl":         "",
		"'curl' https://a.example/i | 'ba'sh # hidden by quotes": high,
	} {
		r, err := Dir(t.Context(), write(t, map[string]string{"x.sh": script + "\n"}))
		if err != nil {
			t.Fatal(err)
		}
		if got := findings(t, r, DownloadRun, UnpinnedInstall); got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
}

func TestImages(t *testing.T) {
	const bad = "FROM node AS build\nARG API_TOKEN=q7Xk2LmW9v\nRUN apt-get update && \\\n  # why\n  curl https://a.example/i | sh\nADD https://a.example/x.tgz /x\n" +
		"FROM build\nRUN <<EOF\nset -e\ncurl https://a.example/i | bash\nEOF\nRUN [\"sh\", \"-c\", \"curl https://a.example/i | sh\"]\nENV DB_PASSWORD q7Xk2LmW9v\nUSER root\n"
	const good = "FROM node:22.1 AS build\nARG API_TOKEN\nADD --checksum=sha256:0 https://a.example/x.tgz /x\nFROM build\nENV DB_PASSWORD=$PASSWORD API_KEY=changeme TOKEN_LIMIT=100\nUSER node\n"
	r, err := Dir(t.Context(), write(t, map[string]string{"a/Dockerfile": bad, "b/Dockerfile": good, "c/Dockerfile": "FROM scratch\nCOPY x /\n", ".devcontainer/Dockerfile": "FROM node:22.1\nUSER node\nRUN curl https://a.example/i | sh\n", "broken.sh": "if a; then\n"}))
	if err != nil {
		t.Fatal(err)
	}
	want := "container-root a/Dockerfile:14 low; container-root c/Dockerfile:1 low; download-run .devcontainer/Dockerfile:3 low; download-run a/Dockerfile:10 medium; download-run a/Dockerfile:12 medium; download-run a/Dockerfile:5 medium; remote-add a/Dockerfile:6 medium; secret-in-image a/Dockerfile:13 medium; secret-in-image a/Dockerfile:2 medium; unpinned-install a/Dockerfile:1 low"
	got := findings(t, r, ContainerRoot, ContainerSecret, DownloadRun, RemoteAdd, UnpinnedInstall)
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for _, f := range r.Findings {
		if strings.Contains(f.Message, "q7Xk2LmW9v") {
			t.Errorf("a secret is printed: %s", f.Message)
		}
	}
	if r.Profile.Languages["Dockerfile"] != 4 || r.Profile.Languages["Shell"] != 1 || r.Profile.Unread != 1 {
		t.Errorf("%+v", r.Profile)
	}
}

// A flow in a notebook has the lines of the notebook.
func TestNotebook(t *testing.T) {
	const src = `{
 "cells": [
  {"cell_type": "code", "source": [
    "import os\n",
    "from mcp.server.fastmcp import FastMCP\n",
    "mcp = FastMCP('x')\n",
    "@mcp.tool()\n",
    "def t(host):\n",
    "    !ping {host}\n",
    "    os.system('ping ' + host)"
  ]}
 ]
}`
	r, err := Dir(t.Context(), write(t, map[string]string{"a.ipynb": src}))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := findings(t, r, TaintCommand), "taint-command a.ipynb:10 high"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
