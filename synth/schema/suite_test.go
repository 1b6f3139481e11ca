package schema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

var drafts = map[string]*jsonschema.Draft{
	"draft4": jsonschema.Draft4, "draft6": jsonschema.Draft6, "draft7": jsonschema.Draft7,
	"draft2019-09": jsonschema.Draft2019, "draft2020-12": jsonschema.Draft2020,
}

// suiteCase is one schema of the official test suite.
type suiteCase struct {
	name        string
	draft       *jsonschema.Draft
	schema      json.RawMessage
	satisfiable bool
}

// suite reads the official test suite where it is present. A schema counts as
// satisfiable if one of its tests is valid; those that need a remote document are left out.
func suite(tb testing.TB) []suiteCase {
	tb.Helper()
	root := "../../../shared/schemas/JSON-Schema-Test-Suite/tests"
	var out []suiteCase
	for _, draft := range sortedKeys(drafts) {
		files, err := filepath.Glob(filepath.Join(root, draft, "*.json"))
		if err != nil || len(files) == 0 {
			tb.Skip("the JSON-Schema-Test-Suite (../shared/schemas) is not present")
		}
		for _, f := range files {
			raw, err := os.ReadFile(f)
			if err != nil {
				tb.Fatal(err)
			}
			var groups []struct {
				Description string
				Schema      json.RawMessage
				Tests       []struct{ Valid bool }
			}
			if err := json.Unmarshal(raw, &groups); err != nil {
				tb.Fatal(err)
			}
			for _, g := range groups {
				c := suiteCase{name: draft + "/" + filepath.Base(f) + "/" + g.Description, draft: drafts[draft], schema: g.Schema}
				for _, t := range g.Tests {
					c.satisfiable = c.satisfiable || t.Valid
				}
				if !strings.Contains(string(g.Schema), "http://localhost:1234") {
					out = append(out, c)
				}
			}
		}
	}
	return out
}

// inDraft names the draft, for schemas of the suite leave it to the directory.
func inDraft(c suiteCase) json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(c.schema, &m) != nil || m == nil {
		return c.schema
	}
	if _, ok := m["$schema"]; ok {
		return c.schema
	}
	m["$schema"], _ = json.Marshal(c.draft.String())
	raw, _ := json.Marshal(m)
	return raw
}

// TestSuite draws from every schema of the official suite. Full coverage of
// its rarer keywords is not claimed: the test holds the share that is reached.
func TestSuite(t *testing.T) {
	valid, satisfiable := 0, 0
	for _, c := range suite(t) {
		start := time.Now()
		ok := drawSome(t, c)
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%s took %v", c.name, d)
		}
		if !c.satisfiable {
			continue
		}
		satisfiable++
		if ok {
			valid++
		} else {
			t.Logf("nothing drawn: %s: %.200s", c.name, c.schema)
		}
	}
	t.Logf("schemas: %d/%d", valid, satisfiable)
	if valid*1000 < satisfiable*950 {
		t.Errorf("only %d of %d", valid, satisfiable)
	}
}

func drawSome(t *testing.T, c suiteCase) bool {
	raw := inDraft(c)
	g, err := New(raw, Options{})
	if err != nil {
		return false
	}
	got := false
	for seed := range int64(10) {
		for _, class := range []Class{Typical, Valid} {
			v, err := g.Draw(seed, class)
			if err != nil {
				continue
			}
			got = true
			if !c.satisfiable {
				continue
			}
			if err := g.Check(v); err != nil {
				t.Errorf("%s: %s: %v", c.name, v, err)
			}
		}
	}
	return got
}

// TestAwkward draws from lists of schemas that broke other generators.
func TestAwkward(t *testing.T) {
	raw, err := os.ReadFile("../../../shared/schemas/corpus-reported.json")
	if err != nil {
		t.Skip("the awkward schemas (../shared/schemas) are not present")
	}
	var m map[string]json.RawMessage
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatal(err)
	}
	for _, name := range sortedKeys(m) {
		start := time.Now()
		g, err := New(m[name], Options{})
		if err != nil {
			t.Logf("%s: %v", name, err)
			continue
		}
		for seed := range int64(5) {
			if _, err := g.Draw(seed, Valid); err != nil {
				t.Logf("%s: %v", name, err)
				break
			}
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%s took %v", name, d)
		}
	}
}
