package coverage

import (
	"regexp"
	"slices"
)

// Operating systems as Node.js names them, that code may ask for and that coalmine can show to it.
const (
	macOS   = "darwin"
	windows = "win32"
)

var (
	// asksSystem is how code asks which operating system it runs on.
	asksSystem = regexp.MustCompile(`\bplatform\b|\bos\.(?:name|type)\b`)
	namesMacOS = regexp.MustCompile("[\"'`](?i:darwin|macos)[\"'`]")
	// namesWindows has the names of Python, Node.js and their libraries.
	namesWindows = regexp.MustCompile("[\"'`](?i:win32|win|windows(?:_nt)?|nt|cygwin)[\"'`]")
)

// systemsOf are the operating systems for which a source has code of its own.
func systemsOf(source []byte) []string {
	if !asksSystem.Match(source) {
		return nil
	}
	var out []string
	if namesMacOS.Match(source) {
		out = append(out, macOS)
	}
	if namesWindows.Match(source) {
		out = append(out, windows)
	}
	return out
}

// Systems are the other operating systems ("darwin", "win32") that the server's own files ask for in which code that
// can do harm never ran by a report, those of most such places first.
func (c *Code) Systems(r *Report) []string {
	count := map[string]int{}
	for _, u := range r.Unrun {
		if u.Weighs {
			for _, system := range c.systems[u.File] {
				count[system]++
			}
		}
	}
	out := slices.DeleteFunc([]string{macOS, windows}, func(s string) bool { return count[s] == 0 })
	slices.SortStableFunc(out, func(a, b string) int { return count[b] - count[a] })
	return out
}
