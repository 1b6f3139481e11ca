//go:build linux && e2e

package packages

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/probetest"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest"
)

// markedDir is a directory of the user's that no package may read or change.
func markedDir(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	put(t, dir, map[string]string{"marker": "of the user", "lib/index.js": "module.exports = 1\n"})
	before := listing(t, dir)
	t.Cleanup(func() {
		if after := listing(t, dir); strings.Join(before, "\n") != strings.Join(after, "\n") {
			t.Errorf("a directory of the user's was changed: %q, was %q", after, before)
		}
	})
	return dir
}

// A link in the place where npm installs does not have it empty the link's target.
func TestACheckoutsNodeModulesIsNoLink(t *testing.T) {
	probetest.Need(t, "local")
	sandboxtest.Need(t, "node", "npm")
	r := sandboxtest.NewRegistry(t)
	r.Publish(t, `{"name":"dep","version":"1.0.0"}`, map[string]string{"index.js": ""})
	for name, plant := range map[string]func(dir, outside string) error{
		"a link":            func(dir, outside string) error { return os.Symlink(outside, filepath.Join(dir, "node_modules")) },
		"a chain":           func(dir, outside string) error { return chain(dir, outside, "node_modules") },
		"a workspace's own": func(dir, outside string) error { return os.Symlink(outside, filepath.Join(dir, "ws", "node_modules")) },
	} {
		t.Run(name, func(t *testing.T) {
			dir, outside := t.TempDir(), markedDir(t)
			put(t, dir, map[string]string{
				"package.json":    `{"name":"notes","version":"3.0.0","bin":"server.mjs","dependencies":{"dep":"1.0.0"},"workspaces":["ws"]}`,
				"ws/package.json": `{"name":"ws","version":"1.0.0","dependencies":{"dep":"1.0.0"}}`,
				"server.mjs":      served(t, "honest/honest.mjs"),
			})
			if err := plant(dir, outside); err != nil {
				t.Fatal(err)
			}
			res := packaged(t, probetest.OfPackage(&install.Spec{Kind: install.KindDirectory, Name: dir}))
			if len(res.Coverage.Tools) != 1 || res.Coverage.Tools[0].OK == 0 {
				t.Errorf("the server did not run: %+v %s", res.Coverage.Tools, res.Server.Stderr)
			}
			if len(res.Run.Package.LinksLeftOut) == 0 {
				t.Error("the report does not name the link that was left out")
			}
		})
	}
}

// chain makes a link that leads out by way of another: read as text, neither does.
func chain(dir, outside, name string) error {
	if err := os.MkdirAll(filepath.Join(dir, "d", "e"), 0o755); err != nil {
		return err
	}
	const n = 6
	target := strings.Repeat("d/e/up/", n) + strings.Repeat("../", 3*n) + outside[1:]
	return errors.Join(os.Symlink("../..", filepath.Join(dir, "d/e/up")), os.Symlink(target, filepath.Join(dir, name)))
}

// A wheel's data files go into an environment of our making, whatever the checkout has there.
func TestACheckoutsEnvironmentIsNoLink(t *testing.T) {
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python3")
	wheels, dir, outside := t.TempDir(), t.TempDir(), markedDir(t)
	t.Setenv("PIP_FIND_LINKS", wheels)
	t.Setenv("PIP_NO_INDEX", "1")
	sandboxtest.Wheel(t, wheels, "notes-base", "1.0", nil, "", map[string]string{"notes_base/__init__.py": "", "notes_base-1.0.data/data/.bashrc": "touch /tmp/owned\n"})
	put(t, dir, map[string]string{
		"pyproject.toml":       "[project]\nname = 'py-notes'\nversion = '0.3'\ndependencies = ['notes-base >=1']\n[project.scripts]\npy-notes = 'py_notes.server:main'\n",
		"py_notes/__init__.py": "import notes_base\n", "py_notes/server.py": served(t, "honest/honest.py"),
	})
	if err := chain(dir, outside, ".venv"); err != nil {
		t.Fatal(err)
	}
	res := packaged(t, probetest.OfPackage(&install.Spec{Kind: install.KindDirectory, Name: dir}))
	if len(res.Coverage.Tools) != 1 || res.Coverage.Tools[0].OK == 0 {
		t.Errorf("the server did not run: %+v %s", res.Coverage.Tools, res.Server.Stderr)
	}
}

// A wheel with an interpreter's settings is refused, and shows nothing of this machine.
func TestAWheelWithARuntimeIsRefused(t *testing.T) {
	probetest.Need(t, "local")
	sandboxtest.Need(t, "python3")
	for file, text := range map[string]string{"data/pyvenv.cfg": "home = /root\n", "scripts/python": "#!/root/bin/sh\n"} {
		wheels := t.TempDir()
		t.Setenv("PIP_FIND_LINKS", wheels)
		t.Setenv("PIP_NO_INDEX", "1")
		sandboxtest.Wheel(t, wheels, "notes", "1.0", nil, "notes = notes.server:main", map[string]string{
			"notes/__init__.py": "", "notes/server.py": served(t, "honest/honest.py"), "notes-1.0.data/" + file: text,
		})
		_, err := probetest.Run(t.Context(), probetest.OfPackage(&install.Spec{Kind: install.KindPyPI, Name: "notes"}, probetest.In("local", t.TempDir(), t.TempDir())))
		if err == nil || !strings.Contains(err.Error(), "decides what Python runs") {
			t.Errorf("%s: %v", file, err)
		}
	}
}

// A lifecycle script that puts a link in its package's place has the audit read nothing of this machine.
func TestTheAuditFollowsNoLinkOfABuild(t *testing.T) {
	probetest.Need(t, "local")
	sandboxtest.Need(t, "node", "npm")
	outside := t.TempDir()
	put(t, outside, map[string]string{"private-to-the-user.js": "const key = \"AKIA" + "QYLPMN5HFIQR7XYA\"\n", "package.json": `{"name":"private-to-the-user","version":"9.9.9"}`})
	r := sandboxtest.NewRegistry(t)
	target, err := json.Marshal(outside)
	if err != nil {
		t.Fatal(err)
	}
	r.Publish(t, `{"name":"notes","version":"1.0.0","bin":"server.mjs","scripts":{"postinstall":"node post.js"}}`, map[string]string{
		"server.mjs": "#!/usr/bin/env node\n" + served(t, "honest/honest.mjs"),
		"post.js":    `const fs = require("fs"), dir = process.cwd(); process.chdir("/"); fs.rmSync(dir, {recursive: true}); fs.symlinkSync(` + string(target) + `, dir);`,
	})
	res := packaged(t, probetest.OfPackage(npmSpec("notes")))
	data, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), "private-to-the-user") || res.Audit != nil {
		t.Errorf("the audit read a directory of the user's: %+v", res.Audit)
	}
	if len(res.Inconclusive) == 0 {
		t.Error("what was not audited is not said")
	}
}
