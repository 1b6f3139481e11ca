package analyze

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

const (
	// maxPlaces bounds the places that a further start has, maxPlace the length of one.
	maxPlaces = 8
	maxPlace  = 200
)

var (
	// pathInText is an absolute path, or one below HOME, in what an error says.
	pathInText = lazyregexp.New(`(?:^|[\s"'` + "`" + `(=:])((?:~/|/)[\w.@+-]+(?:/[\w.@+-]+)*)`)
	// absence are the words of an error that speaks of a file or a directory that is not there.
	absence = lazyregexp.New(`(?i)\bENOENT\b|\bno such (?:file|dir)|\b(?:not|n't) (?:exist|found|there)|\b(?:unable to|can ?not|can't|could(?: not|n't)) (?:find|locate|open|read|load)\b|\bthere (?:is|are) no\b|\bmissing\b|\bno \S+(?: \S+)? (?:in|below|at)\b`)
	// condition begins a line that says what to do in a case.
	condition = lazyregexp.New(`(?i)^\W*if\b`)
	// nameInText is the name of a file, alone or below the directory that the error names.
	nameInText = lazyregexp.New(`(?:^|[\s"'` + "`" + `(])((?:[\w@+-]+/){0,3}[\w@+-]+(?:\.[\w-]+)*\.[a-z][a-z0-9]{0,9})(?:$|[\s"'` + "`" + `),;:.])`)
	// inCode follows a path in the trace of a stack.
	inCode = lazyregexp.New(`^(?::\d|["'], line \d)`)
)

// systemDirs belong to the machine: nothing is put there.
var systemDirs = []string{"/usr", "/etc", "/proc", "/sys", "/dev", "/bin", "/sbin", "/lib", "/lib64", "/run", "/boot", "/var/run"}

// missedPlaces are the paths that tools name which answered with errors alone, and which no argument named: the tools look
// there. A path that holds an argument counts as far as the directory before it.
func (l *readLog) missedPlaces() []string {
	h := l.log.Header
	var out []string
	for _, tool := range l.refusing() {
		for _, r := range l.w.refusals[tool] {
			if lacksProgram(r.text) {
				continue
			}
			for _, p := range pathsIn(r, h.Home) {
				own := slices.ContainsFunc(slices.Concat([]string{h.Home, h.ServerDir}, h.Workspaces), func(dir string) bool { return dir != "" && isBelow(p, dir) })
				if (own || absence.MatchString(r.text)) && !slices.Contains(out, p) && len(out) < maxPlaces {
					out = append(out, p)
				}
			}
		}
	}
	return out
}

// lacksProgram reports whether a refusal is for want of a program: no document stands in for one.
func lacksProgram(text string) bool {
	for line := range strings.Lines(text) {
		if n := needOf(line); n != nil && n.What == NeedProgram {
			return true
		}
	}
	return false
}

// isBelow reports whether a path is a directory or lies in it.
func isBelow(p, dir string) bool { return p == dir || strings.HasPrefix(p, dir+"/") }

// pathsIn are the places that a refusal names by itself.
func pathsIn(r refusal, home string) (out []string) {
	values := argumentTexts(r.args)
	for _, at := range pathInText.FindAllStringSubmatchIndex(r.text, 20) {
		p := strings.TrimRight(r.text[at[2]:at[3]], ".")
		if rest, below := strings.CutPrefix(p, "~"); below {
			p = home + rest
		}
		if inCode.MatchString(r.text[at[3]:]) || len(p) > maxPlace || path.Clean(p) != p || slices.ContainsFunc(systemDirs, func(dir string) bool { return isBelow(p, dir) }) {
			continue
		}
		if p = before(p, values); strings.Count(p, "/") > 0 && p != "/" && p != "/tmp" {
			out = append(out, p)
			for _, name := range namesIn(r.text, values) {
				out = append(out, path.Join(p, name))
			}
		}
	}
	return out
}

// namesIn are the files of which a text says that they were looked for, by names that no argument gave: those of the
// lines that speak of an absence, where these name any.
func namesIn(text string, values []string) []string {
	var missed []string
	for line := range strings.Lines(text) {
		if absence.MatchString(line) && !condition.MatchString(line) {
			missed = append(missed, fileNames(line, values)...)
		}
	}
	if len(missed) > 0 {
		return missed[:min(len(missed), maxPlaces)]
	}
	return fileNames(text, values)
}

// fileNames are the names of files in a text that no argument gave.
func fileNames(text string, values []string) (out []string) {
	for len(text) > 0 {
		at := nameInText.FindStringSubmatchIndex(text)
		if at == nil {
			break
		}
		name := text[at[2]:at[3]]
		text = text[at[3]:] // one separator may end a name and begin the next
		if len(out) < maxPlaces && !slices.ContainsFunc(values, func(v string) bool { return strings.Contains(v, name) || strings.Contains(name, v) }) {
			out = append(out, name)
		}
	}
	return out
}

// before is the part of a path before the first name that an argument gave, "" where an argument gave the path.
func before(p string, values []string) string {
	if slices.ContainsFunc(values, func(v string) bool {
		return strings.Contains(v, p) || strings.HasPrefix(v, "/") && strings.HasPrefix(p, v)
	}) {
		return ""
	}
	names := strings.Split(p, "/")
	for i, name := range names {
		if name != "" && slices.ContainsFunc(values, func(v string) bool {
			return strings.Contains(name, v) || !strings.HasPrefix(v, "/") && strings.Contains(v, "/"+name)
		}) {
			return strings.Join(names[:i], "/")
		}
	}
	return p
}
