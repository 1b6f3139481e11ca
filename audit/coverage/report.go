package coverage

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// Schema is the version of a Report's JSON form. Within it members are only added.
const Schema = "coalmine/coverage/v1"

// Report says what of a package's own code ran.
type Report struct {
	Schema string `json:"schema"`
	// Functions counts the functions of the files that were loaded and of those to which a
	// way leads, Reached those of them that ran. Dependencies are left out.
	Functions int `json:"functions"`
	Reached   int `json:"reached"`
	// Unguided counts those of Reached that ran without the Guided calls, which were varied by
	// what code they reach and reached more.
	Unguided int `json:"unguided"`
	Guided   int `json:"guided,omitempty"`
	// Unrecorded says why coalmine does not know what ran, "" where it does.
	Unrecorded string `json:"unrecorded,omitempty"`
	// Untold are files that ran, and nothing more is known: they are translated when
	// they are loaded.
	Untold []string `json:"untold,omitempty"`
	// Skipped counts files that were too large or too many to be read.
	Skipped int `json:"skipped,omitempty"`
	// Unread counts functions of a compiled program that were too large or too many to be read.
	Unread int `json:"unread,omitempty"`
	// Unrun are the functions with code that acts on the world and never ran: those that
	// weigh first, and else in the order of the source.
	Unrun []Unrun `json:"unrun"`
	// More counts the functions beyond those of Unrun.
	More int `json:"more,omitempty"`
}

// Unrun is a function with code that acts on the world and never ran.
type Unrun struct {
	File string `json:"file"`
	// Name is the function's qualified name, "" for the module itself.
	Name string `json:"name"`
	// Line is where what never ran begins, and End the function's last line.
	Line int `json:"line"`
	End  int `json:"end,omitempty"`
	// Entered says that the function ran, and only a part of it did not.
	Entered bool `json:"entered,omitempty"`
	// Kinds are what it does that never ran, with what it alone calls.
	Kinds []sinks.Kind `json:"kinds"`
	// Way is where it is reached from: "tool", "resource", "prompt", "start", or "" for
	// code to which no way is known. Tool is the tool's name, where that is known.
	Way  string `json:"way,omitempty"`
	Tool string `json:"tool,omitempty"`
	// Owner says who wrote it.
	Owner Owner `json:"owner,omitempty"`
	// Weighs says that what it does together is enough for harm.
	Weighs bool `json:"weighs,omitempty"`
	// Accepted is why the user's policy accepts it, "" where it does not. The judge sets it.
	Accepted string `json:"accepted,omitempty"`
}

// Place names the function for people and for a policy: "server.py:steal".
func (u *Unrun) Place() string { return u.File + ":" + u.Name }

// NeverRan reports whether a place lies in code that acts on the world and never ran. Of what
// is not known it is false.
func (r *Report) NeverRan(at *finding.Location) bool {
	return r != nil && at != nil && slices.ContainsFunc(r.Unrun, func(u Unrun) bool {
		return u.File == at.Path && (at.Line == u.Line || !u.Entered && u.Line < at.Line && at.Line <= u.End)
	})
}

// wayStart is the way of what the start of the server reaches.
const wayStart = "start"

// maxUnrun bounds the functions of a report.
const maxUnrun = 500

// Weighs reports whether a run must show what the code does with its surroundings: by what it
// does alone or together.
func (c *Code) Weighs() bool {
	return slices.ContainsFunc(c.compare(nil).Unrun, func(u Unrun) bool { return u.Weighs })
}

// Compare says what of the code ran. Without a recording nothing is known, and why says so.
func (c *Code) Compare(r *Recording, why string) *Report {
	if r.Empty() {
		return &Report{Schema: Schema, Unrecorded: why, Skipped: c.skipped, Unread: c.unread, Unrun: []Unrun{}}
	}
	return c.compare(r)
}

// comparison is one under way. Its slices are by function.
type comparison struct {
	*Code
	recording *Recording
	entered   []bool
	unrun     [][]sinks.Sink
	way, tool []string
	// together are the kinds of what never ran of a function and of what it alone calls.
	together []kindSet
	owners   []Owner
}

// compare compares with a recording; nil is one of a server of which all is loaded and
// nothing ran.
func (c *Code) compare(r *Recording) *Report { return c.comparison(r).report() }

func (c *Code) comparison(r *Recording) *comparison {
	n := len(c.functions)
	x := &comparison{
		Code: c, recording: r, entered: make([]bool, n), unrun: make([][]sinks.Sink, n), way: make([]string, n), tool: make([]string, n),
		together: make([]kindSet, n), owners: make([]Owner, n),
	}
	for i := range c.functions {
		x.look(i)
	}
	x.ways()
	x.gather()
	return x
}

// ran is what ran of a file, nil where it was not loaded.
func (x *comparison) ran(file string) *ran {
	if x.recording == nil {
		return nil
	}
	return x.recording.files[file]
}

// look finds out what of a function ran.
func (x *comparison) look(i int) {
	f := &x.functions[i]
	x.owners[i] = x.of(f.File, f.Parts[0].Body)
	ran := x.ran(f.File)
	if ran == nil {
		x.unrun[i] = f.Sinks
		return
	}
	if ran.unfit {
		x.entered[i] = true // of it no more is known
		return
	}
	x.entered[i] = ran.function(f)
	for _, s := range f.Sinks {
		if !x.entered[i] || !ran.sink(f, s) {
			x.unrun[i] = append(x.unrun[i], s)
		}
	}
}

// function reports whether a function was entered.
func (f *ran) function(fn *sinks.Function) bool {
	if fn.Name == "" {
		return true
	}
	return slices.ContainsFunc(fn.Parts, func(p sinks.Part) bool { return f.part(fn, p) })
}

func (f *ran) part(fn *sinks.Function, p sinks.Part) bool {
	if len(f.entered)+len(f.lines) == 0 {
		return f.covers(p.Body.Offset())
	}
	name := fn.Name[strings.LastIndexByte(fn.Name, '.')+1:]
	for line := p.Head.Line(); line <= p.Body.Line() && line-p.Head.Line() < 1000; line++ {
		if f.entered[entry{line, name}] || f.entered[entry{line, "<lambda>"}] {
			return true
		}
	}
	return false
}

// sink reports whether a use in a function that was entered ran. Of Python whole lines are
// known.
func (f *ran) sink(fn *sinks.Function, s sinks.Sink) bool {
	if len(f.entered)+len(f.lines) == 0 {
		return f.covers(s.Start.Offset())
	}
	if !f.lines[s.Start.Line()] {
		return false
	}
	// The line of a definition runs when the function is made.
	for _, p := range fn.Parts {
		if fn.Name != "" && s.Start.Line() == p.Body.Line() && p.Head.Line() == p.Body.Line() {
			return f.part(fn, p)
		}
	}
	return true
}

// ways finds where each function is reached from: first from the handlers, so that a tool is
// named, and then from all that ran.
func (x *comparison) ways() {
	spread := func(queue []int, way, tool string) {
		for len(queue) > 0 {
			i := queue[0]
			queue = queue[1:]
			if x.way[i] != "" {
				continue
			}
			x.way[i], x.tool[i] = way, tool
			for _, id := range x.functions[i].Calls {
				if j, ok := x.at[id]; ok && x.way[j] == "" {
					queue = append(queue, j)
				}
			}
		}
	}
	for _, named := range []bool{true, false} {
		for _, h := range x.handlers {
			if (h.Name != "") != named {
				continue
			}
			var queue []int
			for _, id := range h.Functions {
				if i, ok := x.at[id]; ok && (x.recording == nil || x.ran(x.functions[i].File) != nil) {
					queue = append(queue, i)
				}
			}
			spread(queue, h.Kind, h.Name)
		}
	}
	for i := range x.functions {
		if x.entered[i] || x.recording == nil && x.functions[i].Name == "" {
			spread([]int{i}, wayStart, "")
		}
	}
}

// report lists what never ran.
func (x *comparison) report() *Report {
	out := &Report{Schema: Schema, Skipped: x.skipped, Unread: x.unread, Unrun: []Unrun{}}
	var light []Unrun
	named := x.named()
	for i := range x.functions {
		f := &x.functions[i]
		ran := x.ran(f.File)
		if ran != nil && ran.unfit {
			if f.Name == "" {
				out.Untold = append(out.Untold, f.File)
			}
			continue
		}
		if x.owners[i] == Foreign {
			continue
		}
		if f.Name != "" && (ran != nil || x.way[i] != "") {
			out.Functions++
			if x.entered[i] {
				out.Reached++
			}
		}
		if len(x.unrun[i]) == 0 && !named[i] {
			continue
		}
		u := Unrun{File: f.File, Name: f.Name, Line: f.Start.Line(), End: f.End.Line(), Entered: x.entered[i], Kinds: x.together[i].list(), Way: x.way[i], Tool: x.tool[i], Owner: x.owners[i], Weighs: named[i]}
		if u.Entered && len(x.unrun[i]) > 0 {
			u.Line = x.unrun[i][0].Start.Line()
		}
		if named[i] {
			out.Unrun = append(out.Unrun, u)
		} else {
			light = append(light, u)
		}
	}
	out.Unrun = append(out.Unrun, light...)
	if extra := len(out.Unrun) - maxUnrun; extra > 0 {
		out.Unrun, out.More = out.Unrun[:maxUnrun], extra
	}
	return out
}
