package taint

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// Guard is a place that acts on the world, to which a tool's code leads only where conditions hold.
type Guard struct {
	// Tool is the tool's name, "" where the code does not say it.
	Tool string
	// Effect is what the sink does: "shell", "run", "spawn", "argv", "path", "request", "code"
	// or "object".
	Effect string
	// Sink is the function: "subprocess.run", in Function of File.
	Sink, Function, File string
	Place                lang.Span
	// Conditions all have to hold, the outermost first.
	Conditions []Condition
}

// Bounds of a search for guards: nodes for all handlers, guards, and conditions of one.
const (
	maxGuardWork  = 2_000_000
	maxGuards     = 500
	maxConditions = 8
)

// The values that are the time of the call, and a time that the source names.
const (
	clock  = "clock"
	moment = "moment"
)

// clocks are the functions that tell the time, and moments those that make one.
var (
	clocks  = set("time.time time.time_ns time.localtime time.gmtime datetime.datetime.now datetime.datetime.utcnow datetime.datetime.today datetime.date.today Date.now Date time.Now")
	moments = set("datetime.datetime datetime.date datetime.datetime.fromisoformat datetime.date.fromisoformat datetime.datetime.strptime Date Date.parse Date.UTC time.Date time.Unix")
	// ofClock are methods and attributes of a time that tell the time too.
	ofClock = set("getTime valueOf getFullYear getMonth getDate getDay getHours getMinutes getUTCFullYear getUTCMonth getUTCDate getUTCDay getUTCHours toISOString toLocaleDateString year month day hour minute weekday isoweekday timestamp date time strftime isoformat tm_year tm_mon tm_mday tm_hour tm_wday Year Month Day Hour Weekday Unix UnixMilli Format After Before")
	// digests are functions whose result does not say what they were given.
	digests = set("hashlib.md5 hashlib.sha1 hashlib.sha224 hashlib.sha256 hashlib.sha384 hashlib.sha512 hashlib.blake2b hashlib.blake2s hashlib.new hmac.new zlib.crc32 binascii.crc32 crypto.createHash.update crypto.createHmac.update crypto.hash md5 sha1 sha256 crypto/sha256.Sum256 crypto/sha512.Sum512 crypto/md5.Sum crypto/sha1.Sum")
)

// AnalyzeGuards lists the sinks that the tools of a package reach only under conditions on
// what a caller supplies, or on the time. It honours ctx, and its work is bounded: what lies
// beyond the bounds is not listed.
func AnalyzeGuards(ctx context.Context, pkg *sinks.Package, files []*lang.File) []Guard {
	a := newAnalysis(ctx, pkg, files)
	a.guarding, a.total = true, maxGuardWork
	for _, e := range a.entries() {
		if ctx.Err() != nil || a.total <= 0 {
			break
		}
		a.enter(e)
	}
	out := make([]Guard, 0, len(a.guards))
	for _, k := range sortedKeys(a.guards) {
		out = append(out, *a.guards[k])
	}
	slices.SortStableFunc(out, func(x, y Guard) int {
		return cmp.Or(strings.Compare(x.File, y.File), x.Place.Start.Offset()-y.Place.Start.Offset())
	})
	return out
}

// assuming walks a part of the source that is reached where conditions hold.
func (f *frame) assuming(list []Condition, walk func()) {
	before := f.under
	if len(list) > 0 {
		f.under = slices.Concat(before, list)
	}
	walk()
	f.under = before
}

// guarded notes a sink that is reached under conditions.
func (f *frame) guarded(s sink, name string, c *callInfo) {
	if !f.a.guarding || len(f.under) == 0 || !guardable(s, name, c) {
		return
	}
	g := Guard{Tool: f.a.tool, Effect: string(s.effect), Sink: name, Function: f.name, File: f.src.Path, Place: c.call.Span}
	var key strings.Builder
	fmt.Fprintf(&key, "%s\x00%d\x00%s", g.File, g.Place.Start.Offset(), g.Tool)
	for _, k := range f.under {
		again := slices.ContainsFunc(g.Conditions, func(o Condition) bool { return o.Test == k.Test && o.Parameter == k.Parameter && o.Text == k.Text })
		chooses := k.Test == Equals && (k.Text == g.Tool || k.Text == "tools/call")
		if again || chooses || len(g.Conditions) == maxConditions {
			continue
		}
		g.Conditions = append(g.Conditions, k)
		fmt.Fprintf(&key, "\x00%s %s %s", k.Parameter, k.Test, k.Text)
	}
	if len(g.Conditions) > 0 && f.a.guards[key.String()] == nil && len(f.a.guards) < maxGuards {
		f.a.guards[key.String()] = &g
	}
}

// guardable reports whether a call acts on the world. What may be a method of anything, loads a
// module of a constant name, or only waits does not count.
func guardable(s sink, name string, c *callInfo) bool {
	switch {
	case s.effect == toSQL || s.method:
		return false
	case s.effect == toCode:
		if strings.HasPrefix(name, "set") {
			return len(c.args) > 0 && c.args[0].call == nil && isText(c.args[0])
		}
		return name != "require" && name != "import" && name != "importlib.import_module" && name != "__import__" || len(c.args) > 0 && !c.args[0].known
	}
	return true
}

// signUnder tells the conditions of one call from those of another.
func (f *frame) signUnder() string {
	var b strings.Builder
	for _, k := range f.under {
		fmt.Fprintf(&b, "\x00%s %s %q", k.Parameter, k.Test, k.Text[:min(len(k.Text), 80)])
	}
	return b.String()
}

// conditionsOfCase is what the subject of a switch has to be for a case.
func (f *frame) conditionsOfCase(s lang.Switch, c lang.Case) []Condition {
	if !f.a.guarding || len(c.Patterns) == 0 {
		return nil
	}
	if s.Subject == nil { // of Go: switch { case x == "a": }
		return f.conditions(c.Patterns[0], true)
	}
	k, ok := c.Patterns[0].(lang.Const)
	if !ok || k.Text == "" || k.Kind != lang.String && k.Kind != lang.Number {
		return nil
	}
	out := f.condition(s.Subject, Equals, k.Text, k.Kind == lang.Number, c.Span)
	for i := range out {
		out[i].OneOf = len(c.Patterns) > 1
		out[i].Place = k.Span
	}
	return out
}

// ofGuards is the result of a function that only guards ask for: the time, and digests.
func (f *frame) ofGuards(c *callInfo) *value {
	if !f.a.guarding {
		return nil
	}
	for _, n := range c.canonical {
		switch {
		case digests[n]:
			return union(c.all()).plain().safer(all | digested)
		case clocks[n] && len(c.args) == 0:
			return &value{made: clock}
		case moments[n] && len(c.args) > 0 && !slices.ContainsFunc(c.args, func(v *value) bool { return !v.known }):
			return &value{made: moment}
		}
	}
	if c.recv != nil && (c.recv.made == clock || c.recv.made == moment) && ofClock[c.method] {
		return c.recv
	}
	if name := lastOf(c.call.Func); len(c.args) == 1 && c.args[0].made == clock && (name == "int" || name == "float" || name == "round" || name == "floor" || name == "Number") {
		return c.args[0]
	}
	return nil
}
