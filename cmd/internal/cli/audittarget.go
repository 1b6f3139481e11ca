package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/config"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// auditTarget audits what an argument names, and says what reports call its root: a package
// of a registry, an archive, a configuration, or a directory.
func (e *env) auditTarget(ctx context.Context, f *auditFlags, target string) (r *audit.Report, root string, err error) {
	spec, isPackage, err := install.Prefixed(target)
	if isPackage {
		if err == nil && spec.Kind == install.KindOCI {
			return nil, "", usage("save the image's files to a directory, and audit that", "an audit fetches no image")
		}
		if err != nil {
			return nil, "", err
		}
		p, err := fetchPackage(ctx, spec)
		if err != nil {
			return nil, "", err
		}
		r, err := audit.Archive(ctx, p.name, p.data, audit.Options{Servers: serversOf, Progress: f.tell})
		return r, ".", err
	}
	info, err := os.Stat(target)
	switch {
	case err != nil:
		return nil, "", &sandbox.UsageError{Err: fmt.Errorf("audit: %w", err), Hint: "name a directory, an archive, a configuration, npm:NAME@V or pypi:NAME==V"}
	case info.Mode().IsRegular() && audit.IsArchive(target):
		data, err := readBounded(target, audit.MaxArchive)
		if err != nil {
			return nil, "", &sandbox.UsageError{Err: err, Hint: "name an archive that can be read"}
		}
		r, err := audit.Archive(ctx, filepath.Base(target), data, audit.Options{Servers: serversOf, Progress: f.tell})
		return r, ".", err
	case info.Mode().IsRegular():
		r, err := auditConfiguration(ctx, target)
		return r, filepath.Dir(target), err
	}
	own, err := f.isOwn()
	if err != nil {
		return nil, "", err
	}
	tracked, indexErr := trackedBelow(ctx, target)
	r, err = audit.Checkout(ctx, target, audit.Options{Own: own, Tracked: tracked, Servers: serversOf, Progress: f.tell})
	if err != nil {
		return nil, "", &sandbox.UsageError{Err: err, Hint: "name a directory that holds a server's source"}
	}
	if indexErr != nil {
		fmt.Fprintln(e.err, "warning: "+report.Escape(indexErr.Error(), 500))
		fmt.Fprintln(e.err, "hint: install git: without it, coalmine does not know which files belong to the checkout")
		r.Skipped++
	}
	return r, target, nil
}

// isOwn reports whether the user says that a directory's author is trusted.
func (f *auditFlags) isOwn() (bool, error) {
	switch f.own {
	case "yes", "true":
		return true, nil
	case "no", "false":
		return false, nil
	}
	return false, usage("yes or no", "--own %s is not known", f.own)
}

// trackedBelow asks git what it tracks below a directory. The answer is nil outside of a working tree.
func trackedBelow(ctx context.Context, dir string) (func(string) bool, error) {
	top := shown.Repository(dir)
	if top == "" {
		return nil, nil
	}
	index, err := shown.ReadIndex(ctx, top)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, err
	}
	if real, err = filepath.Abs(real); err != nil {
		return nil, err
	}
	rel, err := filepath.Rel(top, real)
	if err != nil {
		return nil, err
	}
	return func(name string) bool { return index.Tracks(path.Join(filepath.ToSlash(rel), name)) }, nil
}

// auditConfiguration audits the servers and the hooks that a client's configuration names.
func auditConfiguration(ctx context.Context, file string) (*audit.Report, error) {
	data, err := readBounded(file, maxConfig)
	if err != nil {
		return nil, &sandbox.UsageError{Err: err, Hint: "name a file that can be read"}
	}
	read := config.ParseFile(file, data)
	servers, faults := read.Servers, read.Errs
	if len(read.Hooks) > 0 {
		faults = slices.DeleteFunc(faults, func(err error) bool { return errors.Is(err, config.ErrNoServers) })
	}
	if len(servers)+len(read.Hooks) == 0 {
		err := config.ErrNoServers
		if len(faults) > 0 {
			err = faults[0]
		}
		return nil, &sandbox.UsageError{Err: err, Hint: "name a directory, an archive (tgz, whl, zip, mcpb) or a client's configuration"}
	}
	r, err := audit.Configuration(ctx, file, data, audited(servers, read.Hooks))
	if err == nil {
		r.Skipped += len(faults)
	}
	return r, err
}

// serversOf are the servers and the hooks of a configuration that lies in an audited tree. What of it cannot
// be read is searched as text alone.
func serversOf(name string, data []byte) []audit.Server {
	if len(data) > maxConfig {
		return nil
	}
	read := config.ParseFile(name, data)
	return audited(read.Servers, read.Hooks)
}

// audited are servers, and the commands of hooks, as an audit takes them.
func audited(servers []config.Server, hooks []config.Hook) []audit.Server {
	list := make([]audit.Server, len(servers), len(servers)+len(hooks))
	for i, s := range servers {
		list[i] = audit.Server{Name: s.Name, Command: s.Command, Env: s.Env, URL: s.URL, Headers: s.Headers, Line: s.Line}
	}
	for _, h := range hooks {
		list = append(list, audit.Server{Name: "the hook " + h.Event, Command: []string{"sh", "-c", h.Command}, Line: h.Line})
	}
	return list
}
