package schema

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const ownDir = "testdata/"

// suiteRoot is where the suite is read from: a few schemas of our own, unless the
// official ones were fetched for the end-to-end tests.
var suiteRoot = func(testing.TB) string { return ownDir + "suite/" }

var suiteDrafts = []struct {
	dir   string
	draft *jsonschema.Draft
}{
	{"draft4", jsonschema.Draft4}, {"draft6", jsonschema.Draft6}, {"draft7", jsonschema.Draft7},
	{"draft2019-09", jsonschema.Draft2019}, {"draft2020-12", jsonschema.Draft2020},
}

// suiteCase is one schema of a suite.
type suiteCase struct {
	name, dir   string
	draft       *jsonschema.Draft
	schema      json.RawMessage
	documents   map[string]json.RawMessage
	satisfiable bool
}

// suite reads all schemas of the five drafts, those of optional features
// included. A schema counts as satisfiable if one of its tests is valid.
func suite(tb testing.TB) []suiteCase {
	tb.Helper()
	root := suiteRoot(tb)
	documents := remotes(tb, root+"remotes")
	var out []suiteCase
	for _, d := range suiteDrafts {
		tests := root + "tests/" + d.dir
		err := filepath.WalkDir(tests, func(p string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() {
				return err
			}
			name, err := filepath.Rel(tests, p)
			if err != nil {
				return err
			}
			for _, c := range suiteFile(tb, p) {
				c.name, c.dir, c.draft, c.documents = d.dir+"/"+filepath.ToSlash(name)+": "+c.name, d.dir, d.draft, documents
				c.schema = c.named()
				out = append(out, c)
			}
			return nil
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	return out
}

func suiteFile(tb testing.TB, p string) []suiteCase {
	tb.Helper()
	raw, err := os.ReadFile(p)
	if err != nil {
		tb.Fatal(err)
	}
	var groups []struct {
		Description string
		Schema      json.RawMessage
		Tests       []struct{ Valid bool }
	}
	if err := json.Unmarshal(raw, &groups); err != nil {
		tb.Fatalf("%s: %v", p, err)
	}
	var out []suiteCase
	for _, g := range groups {
		c := suiteCase{name: g.Description, schema: g.Schema}
		for _, t := range g.Tests {
			c.satisfiable = c.satisfiable || t.Valid
		}
		out = append(out, c)
	}
	return out
}

// remotes are the documents that the suite's schemas refer to, under the
// addresses that they use.
func remotes(tb testing.TB, root string) map[string]json.RawMessage {
	tb.Helper()
	out := map[string]json.RawMessage{}
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		raw, err := os.ReadFile(p)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, p)
		out["http://localhost:1234/"+filepath.ToSlash(name)] = raw
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

// named is the schema with the draft that the suite leaves to the directory.
func (c *suiteCase) named() json.RawMessage {
	var m map[string]json.RawMessage
	if json.Unmarshal(c.schema, &m) != nil || m == nil {
		return c.schema
	}
	if _, ok := m["$schema"]; ok {
		return c.schema
	}
	m["$schema"], _ = json.Marshal(c.draft.String())
	raw, err := json.Marshal(m)
	if err != nil {
		return c.schema
	}
	return raw
}

// judge is the bare validator, which knows nothing of the generator.
func (c *suiteCase) judge() (*jsonschema.Schema, error) {
	doc, err := decode(c.schema)
	if err != nil {
		return nil, err
	}
	docs, err := decodeDocuments(c.documents)
	if err != nil {
		return nil, err
	}
	j := jsonschema.NewCompiler()
	j.DefaultDraft(c.draft)
	j.UseLoader(docs)
	j.UseRegexpEngine(newEngine().compile)
	if err := j.AddResource(schemaURL, doc); err != nil {
		return nil, err
	}
	return j.Compile(schemaURL)
}

// tally is what became of one schema.
type tally struct {
	draws, rejected int
	said            bool // that it is unsatisfiable
	err             error
	took            time.Duration
}

// ok says that instances were found and that all of them were accepted.
func (t *tally) ok() bool { return t.draws > 0 && t.rejected == 0 && t.err == nil }

// try draws from a schema with a number of seeds in each class of valid values.
func (c *suiteCase) try(seeds int) (t tally) {
	start := time.Now()
	defer func() { t.took = time.Since(start) }()
	g, err := New(c.schema, Options{Documents: c.documents})
	if err != nil {
		t.err, t.said = err, errors.Is(err, ErrUnsatisfiable)
		return t
	}
	judge, err := c.judge()
	if err != nil {
		t.err = err
		return t
	}
	for seed := range int64(seeds) {
		for _, class := range allClasses {
			raw, err := g.Draw(seed, class)
			if err != nil {
				t.err = err
				if !c.satisfiable {
					return t
				}
				continue
			}
			t.draws++
			v, err := decode(raw)
			if err != nil || judge.Validate(v) != nil {
				t.rejected++
				t.err = errors.Join(err, errors.New("rejected: "+clip(string(raw))))
			}
		}
	}
	return t
}

// awkward reads the list of schemas of the kinds that broke other generators.
func awkward(tb testing.TB) map[string]json.RawMessage {
	tb.Helper()
	raw, err := os.ReadFile(ownDir + "awkward.json")
	if err != nil {
		tb.Fatal(err)
	}
	var out map[string]json.RawMessage
	if err := json.Unmarshal(raw, &out); err != nil {
		tb.Fatal(err)
	}
	return out
}
