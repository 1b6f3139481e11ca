package audit

import (
	"cmp"
	"errors"
	"io/fs"
	"iter"
	"path"
	"strings"
	"unicode"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// Bounds of a package's core metadata: the bytes of its fields, one value, and how many files are read.
const (
	maxFields   = 1 << 20
	maxValue    = 10_000
	maxMetadata = 50
)

// coreMetadata are the fields of a METADATA or PKG-INFO that say something here:
// https://packaging.python.org/specifications/core-metadata.
type coreMetadata struct {
	identity
	// requires are the packages that it always needs, and extras those that an optional use needs.
	requires, extras []string
}

var (
	// forExtra is the marker of a package that only an optional use needs.
	forExtra = lazyregexp.New(`\bextra\s*==|==\s*['"]?extra\b`)
	// fieldName begins a line that is a field.
	fieldName = lazyregexp.New(`^[A-Za-z0-9-]+$`)
)

// parseMetadata reads the fields up to the first line that is none, as Python's tools do. The
// first value of a field counts.
func parseMetadata(data []byte) (*coreMetadata, error) {
	m, rank := &coreMetadata{}, 0
	isVersioned := false
	for name, value := range fieldsOf(string(data[:min(len(data), maxFields)])) {
		first := func(into *string) {
			if *into == "" {
				*into = value
			}
		}
		switch name {
		case "metadata-version":
			isVersioned = true
		case "name":
			first(&m.name)
		case "version":
			first(&m.version)
		case "license", "license-expression", "license-file":
			m.isLicensed = m.isLicensed || !strings.EqualFold(value, "unknown")
		case "classifier":
			m.isLicensed = m.isLicensed || strings.HasPrefix(value, "License ::")
		case "requires-dist":
			m.require(value)
		case "home-page", "project-url":
			if r, address := projectLink(name, value); r > rank {
				rank, m.repository = r, address
			}
		}
	}
	if !isVersioned || m.name == "" {
		return nil, errors.New("no core metadata of a package")
	}
	return m, nil
}

// require keeps the package of a Requires-Dist.
func (m *coreMetadata) require(value string) {
	name := requirement.FindString(value)
	switch {
	case name == "" || len(m.requires)+len(m.extras) >= maxLocked:
	case forExtra.MatchString(value):
		m.extras = append(m.extras, name)
	default:
		m.requires = append(m.requires, name)
	}
}

// fieldsOf yields the fields of core metadata that have a value, with their names in small letters.
func fieldsOf(src string) iter.Seq2[string, string] {
	return func(yield func(name, value string) bool) {
		name, value := "", ""
		flush := func() bool {
			n, v := name, strings.TrimSpace(value)
			name, value = "", ""
			return n == "" || v == "" || yield(n, v)
		}
		for line := range strings.Lines(src) {
			line = strings.TrimRight(line, "\r\n")
			if name != "" && (strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t")) {
				if len(value) < maxValue {
					value += "\n" + line
				}
				continue
			}
			field, rest, ok := strings.Cut(line, ":")
			if !flush() {
				return
			}
			if !ok || !fieldName.MatchString(field) {
				return // the description begins
			}
			name, value = strings.ToLower(field), rest[:min(len(rest), maxValue)]
		}
		flush()
	}
}

// links are the labels of a project's addresses, as PyPI compares them: the later says more.
var links = []string{"homepage", "source", "sourcecode", "github", "repository"}

// projectLink is an address that a package names, with how much it says of the repository. It is 0 for another.
func projectLink(field, value string) (rank int, address string) {
	if field == "home-page" {
		return 1, value
	}
	label, address, _ := strings.Cut(value, ",")
	label = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || unicode.IsPunct(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, label)
	for i, l := range links {
		if l == label {
			return i + 1, strings.TrimSpace(address)
		}
	}
	return 0, ""
}

// metadataFiles are the core metadata of the root: of an unpacked wheel, of a wheel with nothing
// else in it, and of an archive of sources.
func (a *auditor) metadataFiles() []string {
	list, err := fs.Glob(a.files, "*.dist-info/METADATA")
	if err != nil {
		return nil
	}
	return append(list[:min(len(list), maxMetadata)], "METADATA", "PKG-INFO")
}

// isMetadata reports whether a file is core metadata by its place.
func isMetadata(p string) bool {
	dir, name := path.Split(p)
	return name == "PKG-INFO" || name == "METADATA" && (dir == "" || strings.HasSuffix(dir, ".dist-info/"))
}

// pythonMetadata judges the packages that core metadata names. The only one there is the package that
// is audited; where there are several, as in a directory of installed ones, none of them is.
func (a *auditor) pythonMetadata() (manifest string, of identity) {
	n := 0
	for _, p := range a.metadataFiles() {
		if m := a.metadataOf(p); m != nil {
			n++
			a.closeName("pypi", p, m.name)
			manifest, of = p, m.identity
		}
	}
	if n != 1 {
		return "", identity{}
	}
	return manifest, of
}

// metadataOf reads one file of core metadata, nil for none that can be read.
func (a *auditor) metadataOf(p string) *coreMetadata {
	data, err := a.read(p)
	if err != nil {
		return nil
	}
	m, err := parseMetadata(data)
	if err != nil {
		return nil // it says nothing
	}
	return m
}

// requiredDist are the packages that the audited one's metadata needs, and whether there is any.
func (a *auditor) requiredDist() ([]string, bool) {
	var only *coreMetadata
	for _, p := range a.metadataFiles() {
		m := a.metadataOf(p)
		if m != nil && only != nil {
			return nil, false
		}
		only = cmp.Or(only, m)
	}
	if only == nil {
		return nil, false
	}
	return only.requires, true
}
