package registry

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// Tool is a client of registries.
type Tool string

// The tools that Load reads settings of and Proxy.Client configures.
const (
	NPM Tool = "npm"
	Pip Tool = "pip"
	UV  Tool = "uv"
	Go  Tool = "go"
	Git Tool = "git"
)

// Registry is one place that a tool may fetch from.
type Registry struct {
	Tool Tool
	// URL is where it lies, with its port and without user, query and fragment; its path
	// ends in "/" unless it is a single page. The proxy allows requests below it.
	URL *url.URL
	// Scope is npm's "@scope" whose packages come from here, or a name that uv gives
	// the index; "" otherwise.
	Scope string
	// Setting names the file or variable that configures it; "" for the tool's default.
	Setting string

	role       role
	credential *credential // nil for none; never printed
}

// Unserved is a setting of the user's that the proxy cannot honour.
type Unserved struct {
	Tool Tool
	// Setting names the file or variable, What the thing that is not served, and
	// Remedy what the user can do. None of them holds a secret.
	Setting, What, Remedy string
	// Fallback says that the tool needs it only where no served registry has an answer.
	Fallback bool
}

// String is a line for a person.
func (u Unserved) String() string {
	return fmt.Sprintf("%s: %s (%s): %s", u.Tool, u.What, u.Setting, u.Remedy)
}

// Error is a failure that the user can mend.
type Error struct {
	Err  error
	Hint string
}

// Error implements error.
func (e *Error) Error() string { return e.Err.Error() }

// Unwrap implements errors.Unwrap.
func (e *Error) Unwrap() error { return e.Err }

func withHint(hint, format string, a ...any) error {
	return &Error{Err: fmt.Errorf(format, a...), Hint: hint}
}

// printable is a text of bounded length without anything that a terminal obeys.
func printable(s string) string {
	const most = 300
	s = strings.ToValidUTF8(s[:min(len(s), most)], "?")
	quoted := strconv.QuoteToASCII(s)
	return quoted[1 : len(quoted)-1]
}
