package session

import "time"

// Package is what was fetched, and perhaps built, to be run: a registry's package
// with its dependencies, an image, or a checkout with its own.
type Package struct {
	// Kind is "npm", "pypi", "oci" or "directory".
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Version is the one that was resolved, "" where the kind has none.
	Version string `json:"version,omitempty"`
	// Integrity is the checked hash of the package's own archive, as its registry
	// writes it; "" for a directory.
	Integrity string `json:"integrity,omitempty"`
	// Digest, "sha256:…", is that of all that was fetched: equal digests mean
	// equal files, dependencies included.
	Digest string `json:"digest,omitempty"`
	// Packages counts what was fetched, dependencies included.
	Packages int `json:"packages"`
	// AsOf is the moment up to which dependencies were taken (RFC 3339), "" for that of the
	// fetch, and AsOfWhy says why: AsOfAsked or AsOfUnstarted.
	AsOf    string `json:"asOf,omitempty"`
	AsOfWhy string `json:"asOfWhy,omitempty"`
	// Bin is the program of several that was chosen, "" for the only one.
	Bin string `json:"bin,omitempty"`
	// Again are the words that name the target again, its arguments included.
	Again []string `json:"again"`
	// LinksLeftOut are the symbolic links that led out of what was fetched or built,
	// and are not in what was run: at most MaxLinksLeftOut of them.
	LinksLeftOut []string `json:"linksLeftOut,omitempty"`
	Build        Build    `json:"build"`
}

// The reasons of Package.AsOf.
const (
	// AsOfAsked: the user names the moment.
	AsOfAsked = "asked"
	// AsOfUnstarted: with the dependencies of the fetch, the server ended before it answered, or declared nothing.
	AsOfUnstarted = "unstarted"
)

// MaxLinksLeftOut bounds Package.LinksLeftOut.
const MaxLinksLeftOut = 100

// The states of a Build.
const (
	// BuildNone: nothing that was fetched has anything to build.
	BuildNone = "none"
	// BuildDone: all steps were run in the sandbox, and succeeded.
	BuildDone = "done"
	// BuildFailed: the build was run and did not end well.
	BuildFailed = "failed"
	// BuildSkipped: there was something to build, and it was not run.
	BuildSkipped = "skipped"
)

// Build is what became of a package's own scripts between its fetch and its start.
type Build struct {
	State string `json:"state"`
	// Why says it in words.
	Why   string        `json:"why,omitempty"`
	Took  time.Duration `json:"took,omitempty"`
	Steps []BuildStep   `json:"steps,omitempty"`
}

// BuildStep is one script of one package.
type BuildStep struct {
	Package string `json:"package"`
	// Event is "postinstall" or its like.
	Event string `json:"event"`
	// Status is the script's exit status, -1 where it was not run to its end.
	Status int `json:"status"`
}

// PhaseBuild is the Phase of a Header whose log is that of a build.
const PhaseBuild = "build"
