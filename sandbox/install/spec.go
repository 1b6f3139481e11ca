package install

import (
	"errors"
	"fmt"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/registry"
)

// The kinds of a Spec.
const (
	KindNPM       = "npm"
	KindPyPI      = "pypi"
	KindOCI       = "oci"
	KindDirectory = "directory"
)

// Spec names a package as a user does.
type Spec struct {
	Kind string
	// Name is the package's, an image's reference, or a directory's path.
	Name string
	// Version is the one asked for, "" for the newest.
	Version string
	// Bin is the program to run, "" for the only one.
	Bin string
	// With are further packages to be installed beside it, as its runner takes them.
	With []string
}

// Error is a failure that the user can mend.
type Error = registry.Error

func withHint(hint, format string, a ...any) error {
	return &Error{Err: fmt.Errorf(format, a...), Hint: hint}
}

var (
	npmName    = lazyregexp.New(`^(@[a-zA-Z0-9~_][\w.~-]*/)?[a-zA-Z0-9~_][\w.~-]*$`)
	npmVersion = lazyregexp.New(`^[a-zA-Z0-9^~<>=*.+| -]*$`)
	pypiName   = lazyregexp.New(`^[A-Za-z0-9]([\w.-]*[A-Za-z0-9])?(\[[\w., -]*\])?$`)
	pypiVer    = lazyregexp.New(`^[A-Za-z0-9.!+_-]*$`)
	ociName    = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9._:/@-]*$`)
)

// Prefixed reads "npm:NAME@V", "pypi:NAME==V" or "oci:IMAGE"; ok is false for what
// begins with none of these words.
func Prefixed(arg string) (s Spec, ok bool, err error) {
	kind, name, colon := strings.Cut(arg, ":")
	if !colon {
		return Spec{}, false, nil // "npm" is a program, too
	}
	switch kind {
	case KindNPM, KindPyPI, KindOCI:
		s, err = Parse(kind, name)
		return s, true, err
	}
	return Spec{}, false, nil
}

// Parse reads a package's name as the runners of its kind take it: "NAME@V", for
// PyPI also "NAME==V". A URL, a path or a repository is refused: what is fetched
// from there has no hash to be checked.
func Parse(kind, name string) (Spec, error) {
	s := Spec{Kind: kind, Name: name}
	ok := false
	switch kind {
	case KindNPM:
		if i := strings.LastIndexByte(name, '@'); i > 0 {
			s.Name, s.Version = name[:i], name[i+1:]
		}
		ok = npmName.MatchString(s.Name) && npmVersion.MatchString(s.Version)
	case KindPyPI:
		for _, sep := range []string{"==", "@"} {
			if before, after, found := strings.Cut(name, sep); found {
				s.Name, s.Version = strings.TrimSpace(before), strings.TrimSpace(after)
				break
			}
		}
		if s.Version == "latest" {
			s.Version = ""
		}
		ok = pypiName.MatchString(s.Name) && pypiVer.MatchString(s.Version)
	case KindOCI:
		ok = ociName.MatchString(name)
	}
	if !ok || len(name) > 500 {
		return Spec{}, withHint("npm:NAME@VERSION, pypi:NAME==VERSION or oci:IMAGE; a checkout is named by its directory", "%q is not the name of a package of %s", name, kind)
	}
	return s, nil
}

// String writes a Spec as Prefixed reads it.
func (s Spec) String() string {
	switch {
	case s.Kind == KindDirectory:
		return s.Name
	case s.Version == "":
		return s.Kind + ":" + s.Name
	case s.Kind == KindPyPI:
		return s.Kind + ":" + s.Name + "==" + s.Version
	}
	return s.Kind + ":" + s.Name + "@" + s.Version
}

// wanted is a package as its client is asked for it.
func (s Spec) wanted() string {
	_, name, _ := strings.Cut(s.String(), ":")
	return name
}

// ErrNoBin says that a package has no program, or several of which none was chosen.
var ErrNoBin = errors.New("no program to run")
