package rules

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/profile"
	"github.com/coalmine-dev/coalmine/analyze/scope"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm303 = Rule{Rule: cm303Doc, Check: checkCM303}

var cm303Doc = finding.Rule{
	ID: "CM303", Name: "PathTraversal", Title: "Path traversal", Severity: finding.High, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "Whoever controls the argument reads or writes files outside the promised directory.", Fix: "Resolve the path with realpath and require the directory and its separator as prefix (Path.is_relative_to, filepath.IsLocal, os.Root)."},
	CWE:    []string{"CWE-22", "CWE-59"}, OWASP: []string{"MCP05"},
	Help: "A string argument escaped the directory in which the server should work: with `..`, an absolute path, an encoding, a NUL byte, a symbolic link, or a sibling directory whose name begins with the same letters. The server returned or opened a planted file there, or created a new one.\n\n" +
		"**Evidence.** The file's text, which stands nowhere else, in a frame of `session.jsonl`; or the kernel's record with the real path. It counts where a directory is promised: by the tool's or the server's own words, by an argument that names no path at all (a note's name, an id), by a directory of the server's own below which the argument leads in other calls, by the directory that the server's command or a variable names, or by the tool's own refusal of another such path (of `..` alone: for paths that climb). " +
		"A file that was opened for reading and not returned is medium, since a server may look before it refuses. A tool that opens the file unasked, too, proves nothing.\n\n" +
		"A tool that takes a path and promises no directory may read it: no finding. **False positive when** the promise is another's.",
}

func checkCM303(r *Run) []finding.Finding {
	var out []finding.Finding
	var contexts []string
	for _, h := range r.hits(session.OraclePath) {
		tool := r.toolOf(h.Call)
		t := r.Scope.Tool(tool)
		promise, severity := r.confinement(&t, tool, h.At)
		if said := r.Profile.Refusals[tool]; promise == "" && said.Text != "" && (!said.Climbs || climbs(h.Context)) {
			promise, severity = "the tool refuses another such path (“"+said.Text+"”)", finding.High
		}
		if promise == "" || h.Path != "" && r.Profile.Unasked(tool, h.Path) || runsCommands(&t, h.At) {
			continue
		}
		f := r.proven(&cm303Doc, h, r.quoted(h)+" escaped the directory ("+h.Context+") and "+r.led(h)+", although "+promise)
		f.Severity = severity
		f.Rung = map[string]finding.Rung{profile.HitReturn: finding.RungReturned, profile.HitOpen: finding.RungOpened, profile.HitWrite: finding.RungOpened}[h.How]
		if h.How == profile.HitOpen {
			f.Severity = finding.Medium
		}
		if severity == finding.Medium {
			f.Confidence = finding.Probable
		}
		out = append(out, f)
		contexts = append(contexts, h.Context)
	}
	return aboutOne(out, contexts)
}

// climbs reports whether a variant of a path goes up by "..".
func climbs(context string) bool {
	return slices.ContainsFunc([]string{"dot", "encoded", "backslashes", "relative sibling"}, func(part string) bool { return strings.Contains(context, part) })
}

// led says where a path led.
func (r *Run) led(h *profile.Hit) string {
	verb := map[string]string{profile.HitReturn: "returned", profile.HitOpen: "opened", profile.HitWrite: "wrote", profile.HitCreate: "created"}[h.How]
	what := r.stable(h.Target)
	if h.How == profile.HitCreate {
		what = "a file in " + r.stable(h.Target[:max(strings.LastIndexByte(h.Target, '/'), 0)])
	}
	return verb + " " + what
}

// confinement finds what promises that an argument stays in a directory, and
// how much a breach of it weighs; "" for no promise.
func (r *Run) confinement(t *scope.Tool, tool, at string) (string, finding.Severity) {
	base := r.Profile.Base(tool, argument(at))
	switch {
	case len(t.Confined) > 0:
		return "its declaration says “" + t.Confined[0].Text + "”", finding.High
	case len(r.Scope.Purpose.Confined) > 0:
		return "the server says “" + r.Scope.Purpose.Confined[0].Text + "”", finding.High
	case !among(t.Paths, at) && !among(t.URLs, at):
		return "the argument names no path", finding.High
	case r.Rooted && among(t.Paths, at):
		return "its command or a variable names the directory to work in", finding.High
	case base != "":
		return "in other calls the argument names files of the server's own " + r.stable(base), finding.High
	}
	return "", ""
}
