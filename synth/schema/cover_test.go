package schema

import (
	"encoding/json"
	"testing"
)

// reach draws n values and observes each; steered ones are drawn for what is missing.
func reach(tb testing.TB, tool corpusTool, n int, steered bool) *Coverage {
	tb.Helper()
	g, err := New(tool.schema, Options{Tool: tool.name, Hints: testHints(), Object: true})
	if err != nil {
		tb.Fatalf("%s %s: %v", tool.server, tool.name, err)
	}
	c := g.Coverage()
	for seed := range int64(n) {
		draw := g.Draw
		if steered {
			draw = c.Draw
		}
		raw, err := draw(seed, Valid)
		if err != nil {
			tb.Fatalf("%s %s: %v", tool.server, tool.name, err)
		}
		c.Observe(raw)
	}
	return c
}

func (n *Counts) add(m Counts) {
	for _, x := range []struct{ sum, more *Count }{{&n.Enums, &m.Enums}, {&n.Branches, &m.Branches}, {&n.Optional, &m.Optional}, {&n.Pairs, &m.Pairs}} {
		x.sum.Reached += x.more.Reached
		x.sum.Total += x.more.Total
	}
}

// TestSteeredDrawsReachMore holds that drawing for what is missing is worth it.
func TestSteeredDrawsReachMore(t *testing.T) {
	var plain, steered Counts
	for i, tool := range corpus(t) {
		if i%4 == 0 {
			plain.add(reach(t, tool, 12, false).Counts())
			steered.add(reach(t, tool, 12, true).Counts())
		}
	}
	t.Logf("plain %+v, steered %+v", plain, steered)
	if steered.Enums.Reached <= plain.Enums.Reached || steered.Pairs.Reached <= plain.Pairs.Reached {
		t.Errorf("plain draws reach %+v, steered ones %+v", plain, steered)
	}
}

const layered = `{"type":"object","required":["op"],"properties":{
 "op":{"oneOf":[
  {"type":"object","required":["kind","target"],"properties":{"kind":{"const":"move"},"target":{"$ref":"#/$defs/target"}},"additionalProperties":false},
  {"type":"object","required":["kind"],"properties":{"kind":{"const":"mark"},"color":{"enum":["red","green","blue","none"]}},"additionalProperties":false},
  {"type":"null"}]},
 "dry":{"type":"boolean"},"level":{"enum":[1,2,3]}},
 "if":{"properties":{"level":{"const":3}},"required":["level"]},"then":{"required":["dry"]},"else":{"properties":{"dry":{"const":false}}},
 "$defs":{"target":{"anyOf":[{"enum":["a","b","c","d","e"]},{"type":"object","required":["next"],"properties":{"next":{"$ref":"#/$defs/target"},"via":{"enum":["x","y"]}}}]}}}`

func TestCoverageOfLayers(t *testing.T) {
	c := reach(t, corpusTool{schema: json.RawMessage(layered)}, 60, true)
	got := c.Counts()
	want := Counts{Enums: Count{14, 14}, Branches: Count{7, 7}}
	if got.Enums != want.Enums || got.Branches != want.Branches {
		t.Errorf("%+v, want %+v; missing %q", got, want, c.Missing(20))
	}
	// Two pairs cannot be: "dry" is false unless the level is 3.
	if got.Pairs.Total != 11 || got.Pairs.Reached != 9 {
		t.Errorf("pairs %+v; missing %q", got.Pairs, c.Missing(20))
	}
}

func TestCoverageIsCountedExactly(t *testing.T) {
	g, err := New(json.RawMessage(`{"type":"object","required":["m"],"properties":{"m":{"enum":["r","w",null]},"f":{"type":"boolean"},"n":{"type":["integer","string"]}},"additionalProperties":false}`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	c := g.Coverage()
	for _, step := range []struct {
		raw  string
		want Counts
	}{
		{`{"m":"x"}`, Counts{Count{0, 3}, Count{0, 0}, Count{0, 4}, Count{0, 27}}},
		{`{"m":"r"}`, Counts{Count{1, 3}, Count{0, 0}, Count{2, 4}, Count{3, 27}}},
		{`{"m":"r"}`, Counts{Count{1, 3}, Count{0, 0}, Count{2, 4}, Count{3, 27}}},
		{`{"m":null,"f":true,"n":1}`, Counts{Count{2, 3}, Count{0, 0}, Count{4, 4}, Count{6, 27}}},
		{`{"m":null,"f":true,"n":"1"}`, Counts{Count{2, 3}, Count{0, 0}, Count{4, 4}, Count{8, 27}}},
	} {
		c.Observe(json.RawMessage(step.raw))
		if got := c.Counts(); got != step.want {
			t.Errorf("after %s: %+v, want %+v", step.raw, got, step.want)
		}
	}
}

func TestCoverageDrawsOnlyFromTheSeed(t *testing.T) {
	tool := corpusTool{schema: json.RawMessage(layered)}
	for _, class := range allClasses {
		a, b := reach(t, tool, 5, true), reach(t, tool, 5, true)
		for seed := range int64(10) {
			x, errX := a.Draw(seed, class)
			y, errY := b.Draw(seed, class)
			if string(x) != string(y) || errX != nil || errY != nil {
				t.Fatalf("%v %d: %s and %s (%v, %v)", class, seed, x, y, errX, errY)
			}
			a.Observe(x)
			b.Observe(y)
		}
	}
}
