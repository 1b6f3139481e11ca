package audit

import (
	"context"
	"fmt"
	"io/fs"
	"maps"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
	"github.com/coalmine-dev/coalmine/audit/taint"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// GuardedSink is the rule for a sink that only a literal opens which nothing tells of.
const GuardedSink = "guarded-sink"

// Guard is a sink that a tool's code reaches only where conditions hold.
type Guard struct {
	Tool string `json:"tool,omitempty"`
	Sink string `json:"sink"`
	// Location is the sink's.
	Location   finding.Location `json:"location"`
	Conditions []Condition      `json:"conditions"`
}

// Condition is a test that a parameter has to pass. The literal itself is not kept: it may be a secret.
type Condition struct {
	Test      taint.Test       `json:"test"`
	Parameter string           `json:"parameter,omitempty"`
	Location  finding.Location `json:"location"`
}

// maxGuarded bounds the guards of a report.
const maxGuarded = 200

// Bounds of what is read for guards alone: all sources, and one of them. A larger one is a bundle.
const (
	maxGuardBytes = 8 << 20
	maxGuardFile  = 1 << 20
)

// Guards lists the sinks below a root that tools reach under conditions, with the literals. It
// reads at most 8 MiB of sources, and the same sources give the same list.
func Guards(ctx context.Context, files fs.FS, skip ...string) []taint.Guard {
	a := newAuditor(files, skip)
	a.guardsOnly = true
	if err := fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error { return a.visit(ctx, p, d, err) }); err != nil {
		return nil
	}
	return taint.AnalyzeGuards(ctx, sinks.NewPackage(a.trees), a.trees)
}

// guards reports the odd ones among the guards of the package, and keeps all where sites are asked for.
func (a *auditor) guards(ctx context.Context, pkg *sinks.Package, at *places) {
	list := taint.AnalyzeGuards(ctx, pkg, a.trees)
	told := a.told(list)
	seen := map[sinkPlace]bool{}
	for i := range list {
		g := &list[i]
		if a.wantsSites && len(a.report.Guards) < maxGuarded {
			a.report.Guards = append(a.report.Guards, reported(g, at))
		}
		where := sinkPlace{g.File, g.Place.Start.Offset()}
		why := oddness(g, told)
		if why == "" || seen[where] {
			continue
		}
		seen[where] = true
		tool := "a tool"
		if g.Tool != "" {
			tool = shown(g.Tool)
		}
		a.addAt(GuardedSink, finding.Low, g.File, at, g.Place.Start, fmt.Sprintf("%s is reached in %s only where %s", shown(g.Sink), tool, why), g.Tool+" "+g.Sink)
	}
}

func reported(g *taint.Guard, at *places) Guard {
	out := Guard{Tool: shown(g.Tool), Sink: shown(g.Sink), Location: printable(*at.location(g.File, g.Place.Start))}
	for _, c := range g.Conditions {
		out.Conditions = append(out.Conditions, Condition{Test: c.Test, Parameter: shown(c.Parameter), Location: printable(*at.location(c.File, c.Place.Start))})
	}
	return out
}

func printable(l finding.Location) finding.Location {
	l.Path = text.Printable(l.Path, 2*maxName)
	return l
}

// oddness says what is odd about the conditions of a guard, "" for nothing.
func oddness(g *taint.Guard, told map[string]bool) string {
	for _, c := range g.Conditions {
		name := shown(c.Parameter)
		switch {
		case c.Test == taint.Clock:
			return "the time is one that the source names"
		case c.Test == taint.Digest:
			return name + " has a digest that the source names"
		case !isMagic(c) || told[c.Text]:
		case c.Number:
			return name + " is a number that nothing tells of"
		case c.Test == taint.Equals:
			return name + " is a text that nothing tells of"
		default:
			return name + " holds a text that nothing tells of"
		}
	}
	return ""
}

var (
	// ordinary are texts that many tools compare with and need not tell of.
	ordinary = words("true false none null undefined default auto json text html yaml yes no on off all any utf8 utf-8 stdin stdout string number boolean object array localhost darwin win32 linux windows")
	// shaped are extensions, types of media, schemes, paths, hosts and placeholders.
	shaped = lazyregexp.New(`^\.|/|\.[a-z]{2,4}$|:$|^--?\w|^[A-Z][A-Z_]+$|^<.*>$|^\W+$`)
	prose  = lazyregexp.New(`^[\pL\pN][\pL\pN _-]*$`)
)

// The least lengths of a text that is odd: of one that is compared as a whole, and of a part.
const (
	leastMagic = 4
	leastPart  = 8
)

// isMagic reports whether a literal is one that a caller would not come upon.
func isMagic(c taint.Condition) bool {
	switch {
	case c.Number:
		n, err := strconv.ParseInt(c.Text, 0, 64)
		// Round numbers and those next to a power of two are bounds.
		return err == nil && c.Test == taint.Equals && n > 1_000 && n%10 != 0 && bits.OnesCount64(uint64(n)) > 1 && bits.OnesCount64(uint64(n)+1) > 1
	case ordinary[strings.ToLower(c.Text)] || shaped.MatchString(c.Text):
		return false
	case c.Test == taint.Equals:
		return len(c.Text) >= leastMagic
	case c.Test == taint.Contains || c.Test == taint.Begins:
		return len(c.Text) >= leastPart && prose.MatchString(c.Text)
	}
	return false
}

// maxMagic bounds the literals that are looked for in the package.
const maxMagic = 50

// told are the literals of guards that the package names elsewhere: in a list, a schema, a
// description. Where a parameter is compared with several, most of which are named nowhere,
// the list is made elsewhere, and all of them count as told.
func (a *auditor) told(list []taint.Guard) map[string]bool {
	compared := map[string]map[taint.Condition]bool{}
	of := map[string][]string{}
	for i := range list {
		for _, c := range list[i].Conditions {
			if !isMagic(c) || compared[c.Text] == nil && len(compared) >= maxMagic {
				continue
			}
			if compared[c.Text] == nil {
				compared[c.Text] = map[taint.Condition]bool{}
			}
			compared[c.Text][taint.Condition{File: c.File, Place: c.Place}] = true
			if key := list[i].Tool + "\x00" + c.Parameter; !slices.Contains(of[key], c.Text) {
				of[key] = append(of[key], c.Text)
			}
		}
	}
	if len(compared) == 0 {
		return nil
	}
	named := a.namedElsewhere(compared)
	out := maps.Clone(named)
	for _, texts := range of {
		untold := slices.DeleteFunc(slices.Clone(texts), func(s string) bool { return named[s] })
		if len(texts) > 2 && 2*len(untold) > len(texts) {
			for _, s := range untold {
				out[s] = true
			}
		}
	}
	return out
}

// namedElsewhere are those of the literals that stand where none of their comparisons is.
func (a *auditor) namedElsewhere(compared map[string]map[taint.Condition]bool) map[string]bool {
	stands, out := map[string]int{}, map[string]bool{}
	look := func(s string) {
		for want := range compared {
			switch {
			case s == want:
				stands[want]++
			case len(s) > len(want) && strings.Contains(s, want):
				out[want] = true
			}
		}
	}
	for _, f := range a.trees {
		lang.Walk(f, func(n lang.Node, _ *lang.Scope) bool {
			switch n := n.(type) {
			case lang.Const:
				look(n.Text)
			case *lang.Function:
				look(n.Doc)
			case *lang.Class:
				look(n.Doc)
			}
			return true
		})
	}
	for want, places := range compared {
		if stands[want] > len(places) {
			out[want] = true
		}
	}
	return out
}
