package schema

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

type corpusTool struct {
	server, name string
	schema       json.RawMessage
}

// corpus reads the schemas of tools of our own and of public servers.
func corpus(tb testing.TB) []corpusTool {
	tb.Helper()
	var out []corpusTool
	for _, f := range []string{ownDir + "tools/own.json", ownDir + "tools/public.json"} {
		raw, err := os.ReadFile(f)
		if err != nil {
			tb.Fatal(err)
		}
		var doc struct {
			Tools []struct {
				Server, Name string
				InputSchema  json.RawMessage
			}
		}
		if err := json.Unmarshal(raw, &doc); err != nil {
			tb.Fatalf("%s: %v", f, err)
		}
		for _, t := range doc.Tools {
			out = append(out, corpusTool{t.Server, t.Name, t.InputSchema})
		}
	}
	return out
}

func testHints() Hints {
	return Hints{
		Files: []string{"/home/dana/notes/notes.txt", "/home/dana/notes/todo.md"}, Dirs: []string{"/home/dana/notes", "/home/dana/notes/docs"}, Images: []string{"/home/dana/notes/a.png"},
		Lines: map[string][]string{"/home/dana/notes/notes.txt": {"a line"}},
		Repo:  "/home/dana/notes/repo", RepoFiles: []string{"README.md"}, Branch: "main", URL: "https://www.example.com/",
	}
}

var allClasses = []Class{Typical, TypicalRequired, TypicalFull, Learned, Sourced, Valid, Boundary}

// plain compiles a schema with nothing of ours but the draft, to judge the
// draws independently of the generator.
func plain(tb testing.TB, raw json.RawMessage) *jsonschema.Schema {
	tb.Helper()
	doc, err := decode(raw)
	if err != nil {
		tb.Fatal(err)
	}
	s, _, err := compileAs(doc, nil, jsonschema.Draft2020, newEngine())
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func TestCorpusIsValid(t *testing.T) {
	tools := corpus(t)
	draws := 0
	for _, tool := range tools {
		g, err := New(tool.schema, Options{Tool: tool.name, Hints: testHints(), Object: true})
		if err != nil {
			t.Errorf("%s %s: %v", tool.server, tool.name, err)
			continue
		}
		judge := plain(t, tool.schema)
		for _, class := range allClasses {
			for seed := range int64(scale.N(4, 20)) {
				raw, err := g.Draw(seed, class)
				if err != nil {
					t.Errorf("%s %s %v %d: %v", tool.server, tool.name, class, seed, err)
					continue
				}
				draws++
				v, err := decode(raw)
				if err != nil {
					t.Fatalf("%s: %v", raw, err)
				}
				if err := judge.Validate(v); err != nil {
					t.Errorf("%s %s %v: %s: %v", tool.server, tool.name, class, raw, err)
				}
			}
		}
	}
	t.Logf("%d tools, %d draws", len(tools), draws)
}

// BenchmarkCorpus draws in turn from all tools of the corpus, validation included.
func BenchmarkCorpus(b *testing.B) {
	var gens []*Generator
	for _, tool := range corpus(b) {
		g, err := New(tool.schema, Options{Tool: tool.name, Hints: testHints(), Object: true})
		if err != nil {
			b.Fatal(err)
		}
		gens = append(gens, g)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		class := Valid
		if i%2 == 0 {
			class = Typical
		}
		if _, err := gens[i%len(gens)].Draw(int64(i), class); err != nil {
			b.Fatal(err)
		}
		i++
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "instances/s")
}
