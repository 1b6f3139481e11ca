package schema

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
)

var seeds = flag.Int("seeds", 2, "how many seeds each class of the report's schemas is drawn with")

// slowest is the time in which a schema must be done with.
const slowest = 5 * time.Second

// exceptions are the schemas of the suite that the figure leaves out, by name,
// each with the reason.
var exceptions = map[string]string{}

// TestReport prints what "make schema-report" shows, and holds its targets.
func TestReport(t *testing.T) {
	out := t.Output()
	valid, satisfiable := reportSuite(t, out)
	reportAwkward(t, out)
	reportTools(t, out)
	if valid*1000 < satisfiable*995 {
		t.Errorf("only %d of %d schemas yield valid instances and nothing else", valid, satisfiable)
	}
	fmt.Fprintf(out, "schemas: %d/%d\n", valid, satisfiable)
}

// reportSuite draws from every schema of the suite.
func reportSuite(t *testing.T, out io.Writer) (valid, satisfiable int) {
	t.Helper()
	type row struct {
		schemas, satisfiable, valid, draws, rejected, untested, drawn int
		slowest                                                       time.Duration
	}
	rows := map[string]*row{}
	for _, c := range suite(t) {
		r := rows[c.dir]
		if r == nil {
			r = &row{}
			rows[c.dir] = r
		}
		if why, ok := exceptions[c.name]; ok {
			fmt.Fprintf(out, "left out: %s: %s\n", c.name, why)
			continue
		}
		got := c.try(*seeds)
		r.schemas++
		r.draws += got.draws
		r.slowest = max(r.slowest, got.took)
		if got.took > slowest {
			t.Errorf("%s took %v", c.name, got.took)
		}
		switch {
		case !c.satisfiable:
			r.untested++
			if got.draws > 0 && got.rejected == 0 {
				r.drawn++
			}
			continue
		case got.ok():
			r.valid++
		default:
			fmt.Fprintf(out, "not met: %s: %d draws, %v\n", c.name, got.draws, got.err)
		}
		r.satisfiable++
		r.rejected += got.rejected
	}
	fmt.Fprintln(out, "draft          schemas  satisfiable    valid   instances  rejected  no valid test (of these drawn)  slowest")
	for _, d := range suiteDrafts {
		r := rows[d.dir]
		fmt.Fprintf(out, "%-13s %8d %12d %8d %11d %9d %14d %16d  %s\n", d.dir, r.schemas, r.satisfiable, r.valid, r.draws, r.rejected,
			r.untested, r.drawn, r.slowest.Round(time.Millisecond))
		valid, satisfiable = valid+r.valid, satisfiable+r.satisfiable
	}
	fmt.Fprintf(out, "left out: %d\n", len(exceptions))
	return valid, satisfiable
}

// reportAwkward holds that nothing on the awkward list hangs or crashes.
func reportAwkward(t *testing.T, out io.Writer) {
	t.Helper()
	var drawn, unsatisfiable, outside, other int
	var longest time.Duration
	list := awkward(t)
	for _, name := range sortedKeys(list) {
		start := time.Now()
		err := drawEach(list[name])
		took := time.Since(start)
		longest = max(longest, took)
		if took > slowest {
			t.Errorf("%s took %v", name, took)
		}
		switch {
		case err == nil:
			drawn++
		case errors.Is(err, ErrUnsatisfiable), errors.Is(err, ErrNotFound):
			unsatisfiable++
		case errors.Is(err, errNoDocument):
			outside++
		default:
			other++
			fmt.Fprintf(out, "awkward: %s: %.200v\n", name, err)
		}
	}
	fmt.Fprintf(out, "awkward: %d schemas: %d drawn from, %d without any value, %d refer outside, %d do not compile; slowest %s, no crash\n",
		len(list), drawn, unsatisfiable, outside, other, longest.Round(time.Millisecond))
}

func drawEach(raw json.RawMessage) error {
	g, err := New(raw, Options{})
	if err != nil {
		return err
	}
	for seed := range int64(3) {
		for _, class := range allClasses {
			v, err := g.Draw(seed, class)
			if err != nil {
				return err
			}
			if err := g.Check(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// toolTally is what was drawn for real tools.
type toolTally struct {
	drawn, valid, violations int
	all, few                 Counts // reached by 200 draws, and by 8 steered ones
}

// reportTools draws from the schemas of real tools: each value must be valid,
// and 200 of the class "valid" must reach every member and every branch.
func reportTools(t *testing.T, out io.Writer) {
	t.Helper()
	var n toolTally
	var tools []corpusTool
	for i, tool := range corpus(t) {
		if i%scale.N(6, 1) == 0 {
			tools = append(tools, tool)
			n.tool(t, tool)
		}
	}
	fmt.Fprintf(out, "tools: %d: %d of %d instances valid, %d with one violation each, all refused\n", len(tools), n.valid, n.drawn, n.violations)
	for _, row := range []struct {
		what string
		n    Counts
	}{{"200 draws of class valid", n.all}, {"8 draws steered to what is missing", n.few}} {
		fmt.Fprintf(out, "%s reach: enum members %d/%d, branches %d/%d, optional present and absent %d/%d, pairs of parameters %d/%d\n", row.what,
			row.n.Enums.Reached, row.n.Enums.Total, row.n.Branches.Reached, row.n.Branches.Total, row.n.Optional.Reached, row.n.Optional.Total,
			row.n.Pairs.Reached, row.n.Pairs.Total)
	}
	if n.valid < n.drawn {
		t.Errorf("%d of %d instances are not valid", n.drawn-n.valid, n.drawn)
	}
}

func (n *toolTally) tool(t *testing.T, tool corpusTool) {
	t.Helper()
	const draws = 200
	g, err := New(tool.schema, Options{Tool: tool.name, Hints: testHints(), Object: true})
	if err != nil {
		t.Fatalf("%s %s: %v", tool.server, tool.name, err)
	}
	judge, c := plain(t, tool.schema), g.Coverage()
	for _, class := range allClasses {
		for seed := range int64(draws) {
			if class != Valid && seed >= int64(*seeds) {
				break
			}
			raw, err := g.Draw(seed, class)
			if err != nil {
				t.Errorf("%s %s %v: %v", tool.server, tool.name, class, err)
				continue
			}
			if n.drawn++; judges(judge, raw) {
				n.valid++
			}
			if class == Valid {
				c.Observe(raw)
			}
		}
	}
	for seed := range int64(*seeds) {
		raw, what, err := g.Violate(seed, nil)
		if errors.Is(err, ErrNoViolation) {
			break
		}
		if n.violations++; err != nil || judges(judge, raw) {
			t.Errorf("%s %s: %s does not break %v (%v)", tool.server, tool.name, raw, what, err)
		}
	}
	got := c.Counts()
	n.all.add(got)
	n.few.add(reach(t, tool, 8, true).Counts())
	if got.Enums.Reached < got.Enums.Total || got.Branches.Reached < got.Branches.Total {
		t.Errorf("%s %s: not reached in %d draws: %q", tool.server, tool.name, draws, c.Missing(5))
	}
}

func judges(judge *jsonschema.Schema, raw json.RawMessage) bool {
	v, err := decode(raw)
	return err == nil && judge.Validate(v) == nil
}
