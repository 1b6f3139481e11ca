package install

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Tree is what was fetched: a directory with nothing in it that knows where it
// will be shown.
type Tree struct {
	Spec Spec
	// Name and Version are the package's own, as its manifest has them.
	Name, Version string
	// Integrity is the checked hash of the package's own archive, Digest that of all.
	Integrity, Digest string
	// Packages counts what was fetched, dependencies included.
	Packages int
	// Host is where it lies. Root is the package's own source within it.
	Host, Root string
	// Own says that Host is nobody else's, and is to be removed after use.
	Own bool
	// Bins are the package's programs.
	Bins []Bin
	// Steps are the scripts that an installation would run, in their order.
	Steps []Step
	// Python says what the programs of a PyPI package run with, nil for others.
	Python *Python
	// Env is where its environment lies within the tree, "" for the tree itself.
	Env string
	// Scripts are files of Bin whose text names the place where the tree is shown.
	Scripts []Script
	// Pending says that the programs are known only when the tree is built.
	Pending bool
	// Dropped are the links that led out of the tree, and were left out.
	Dropped []string
	// Native says that the programs are machine code, which nothing interprets.
	Native bool
}

// Bin is a program of a package.
type Bin struct {
	Name string
	// Path is its file, relative to the tree.
	Path string
}

// Step is one script of a package.
type Step struct {
	// Package is the package's name, Version its version, Event "postinstall" or its like.
	Package, Version, Event string
	// Dir is where it runs, relative to the tree; Command is what a shell reads.
	Dir, Command string
}

// Script is a file of the tree that is written where the tree is shown: At the
// place of "{}" its text names that place.
type Script struct {
	Path, Text string
}

// openBelow opens a directory of a tree of others' making: no link leads out of it.
func openBelow(top, dir string) (*os.Root, error) {
	root, err := os.OpenRoot(top)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return root.OpenRoot(dir)
}

// Choose finds the program that a package's runner would start.
func (t *Tree) Choose(bin string) (Bin, error) {
	if len(t.Bins) == 0 {
		return Bin{}, &Error{Err: fmt.Errorf("%s has %w", t.Spec, ErrNoBin), Hint: "it is a library: name the command that uses it, coalmine probe -- COMMAND…"}
	}
	named := bin != ""
	if !named {
		// npx takes the only file, then the one that is called like the package; uvx the latter.
		if !slices.ContainsFunc(t.Bins, func(b Bin) bool { return !t.isAlias(b, t.Bins[0]) }) {
			return t.Bins[0], nil
		}
		bin = t.Name[strings.LastIndexByte(t.Name, '/')+1:]
	}
	var names, servers []string
	for _, b := range t.Bins {
		if b.Name == bin || t.Spec.Kind == KindPyPI && normalized(b.Name) == normalized(bin) {
			return b, nil
		}
		names = append(names, b.Name)
		if strings.Contains(strings.ToLower(b.Name), "mcp") {
			servers = append(servers, b.Name)
		}
	}
	if !named && len(servers) == 1 {
		return t.Choose(servers[0]) // the only one that says what it is
	}
	return Bin{}, &Error{Err: fmt.Errorf("%s has %d programs, and none is called %s: %s", t.Spec, len(names), bin, strings.Join(names[:min(len(names), 20)], ", ")), Hint: "choose one with --bin NAME"}
}

// isAlias reports whether two programs are one file, or two scripts that call one function.
func (t *Tree) isAlias(a, b Bin) bool {
	text := func(b Bin) string {
		if i := slices.IndexFunc(t.Scripts, func(s Script) bool { return s.Path == b.Path }); i >= 0 {
			return t.Scripts[i].Text
		}
		return ""
	}
	return a.Path == b.Path || text(a) != "" && text(a) == text(b)
}

// normalized is a Python project's name as all its spellings have it.
func normalized(name string) string {
	name, _, _ = strings.Cut(name, "[")
	return strings.ToLower(strings.NewReplacer("_", "-", ".", "-").Replace(strings.TrimSpace(name)))
}

// digest hashes what was fetched, one line each, in an order of its own.
func digest(lines []string) string {
	lines = slices.Clone(lines)
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return "sha256:" + hex.EncodeToString(sum[:])
}
