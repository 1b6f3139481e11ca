package analyze

import (
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// maxSources bounds the lines that an effect or a finding names.
const maxSources = 3

// causes are the kinds of sites that lead to an effect, the likelier first.
var causes = map[finding.EffectKind][]sinks.Kind{
	finding.FileRead: {sinks.Read}, finding.FileWrite: {sinks.Write}, finding.FileDelete: {sinks.Delete}, finding.FileMeta: {sinks.Write},
	finding.Exec: {sinks.Process}, finding.NetConnect: {sinks.Network}, finding.NetListen: {sinks.Network}, finding.UnixSocket: {sinks.Network}, finding.Statement: {sinks.Network},
	finding.Secret: {sinks.Read, sinks.Home, sinks.Environment},
}

// interpreters are the programs that run the sources of the audit. What another program did,
// the server started.
var interpreters = []string{"python", "node", "deno", "bun", "pypy"}

// sources names the lines of the source that are likely to have caused each effect and
// each finding of the run: those of the effects that share a line of the log with it.
func (j *judge) sources(res *Result) {
	if res.Audit == nil || len(res.Audit.Sites) == 0 {
		return
	}
	places := j.decoys()
	for i := range res.Observed {
		e := &res.Observed[i]
		if e.Noise == "" {
			e.Sources = likely(e, res.Audit.Sites, objectsOf(e, places))
		}
	}
	type line struct {
		source, dir string
		seq         uint64
	}
	of := map[line][]finding.Location{}
	for i := range res.Observed {
		e := &res.Observed[i]
		for _, x := range e.Evidence {
			at := line{x.Source, x.Dir, x.Seq}
			of[at] = addSources(of[at], e.Sources)
		}
	}
	for i := range res.Findings {
		f := &res.Findings[i]
		for _, x := range f.Evidence {
			if x.Seq != 0 {
				f.Sources = addSources(f.Sources, of[line{x.Source, x.Dir, x.Seq}])
			}
		}
	}
}

// addSources adds lines, each once.
func addSources(list, more []finding.Location) []finding.Location {
	for _, at := range more {
		there := slices.ContainsFunc(list, func(o finding.Location) bool { return o.Path == at.Path && o.Line == at.Line })
		if len(list) < maxSources && !there {
			list = append(list, at)
		}
	}
	return list
}

// objectsOf are what a call may name of an effect: the host, the file or the program. Decoys
// have the places of their files.
func objectsOf(e *finding.Effect, decoys map[string]string) []string {
	host, _, _ := strings.Cut(e.Target, ":")
	switch {
	case isProgram(e) && e.Kind != finding.Exec:
		return []string{e.Actor}
	case e.Kind == finding.NetConnect || e.Kind == finding.NetListen:
		return []string{host, e.Host}
	case e.Kind == finding.Secret:
		return []string{path.Base(decoys[e.Target]), e.Host}
	}
	return []string{path.Base(e.Target)}
}

// isProgram reports whether another program than an interpreter of the source did it.
func isProgram(e *finding.Effect) bool {
	return e.Actor != "" && !slices.ContainsFunc(interpreters, func(name string) bool { return strings.HasPrefix(e.Actor, name) })
}

// likely are the sites that fit an effect best: of a kind that leads to it, on a way from its
// tool, and with its object in the call. A site of another tool alone is none.
func likely(e *finding.Effect, sites []audit.Site, objects []string) []finding.Location {
	kinds := causes[e.Kind]
	if e.Kind == finding.Secret && e.Rung == finding.RungLeft {
		kinds = append([]sinks.Kind{sinks.Network}, kinds...)
	}
	if isProgram(e) {
		kinds = []sinks.Kind{sinks.Process}
	}
	best, out := 0, []finding.Location(nil)
	for i := range sites {
		s := &sites[i]
		if !slices.Contains(kinds, s.Kind) {
			continue
		}
		fit := 1
		switch {
		case e.Tool != "" && slices.Contains(s.Tools, e.Tool), e.Tool == "" && len(s.Tools) == 0:
			fit += 2
		case len(s.Tools) > 0:
			continue
		}
		if s.Object != "" && slices.ContainsFunc(objects, func(o string) bool { return strings.EqualFold(o, s.Object) }) {
			fit += 4
		}
		if fit > best {
			best, out = fit, nil
		}
		if fit == best {
			out = addSources(out, []finding.Location{s.Location})
		}
	}
	return out
}
