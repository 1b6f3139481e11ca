package plan

import (
	"encoding/json"
	"io"
	"os"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// manifests are what is said of the server beside it, and in the client's configuration.
func manifests(o *Options, source *os.Root) []session.Manifest {
	out := readManifests(source)
	if s := o.Sandboxed; s != nil {
		if text, err := json.Marshal(s); err == nil {
			out = append(out, session.Manifest{File: scope.SandboxManifest, Text: string(text)})
		}
	}
	return out
}

// readManifests reads what the files beside a server say of it. What is no regular
// file, or is too large, is left out: it then says nothing.
func readManifests(root *os.Root) []session.Manifest {
	if root == nil {
		return nil
	}
	var out []session.Manifest
	for _, name := range scope.ManifestFiles {
		if info, err := root.Lstat(name); err != nil || !info.Mode().IsRegular() || info.Size() > scope.MaxManifest {
			continue
		}
		f, err := root.Open(name)
		if err != nil {
			continue
		}
		data, err := io.ReadAll(io.LimitReader(f, scope.MaxManifest))
		if err == nil && utf8.Valid(data) {
			out = append(out, session.Manifest{File: name, Text: string(data)})
		}
		_ = f.Close()
	}
	return out
}
