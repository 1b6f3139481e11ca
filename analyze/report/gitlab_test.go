package report

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"slices"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// The constraints of GitLab's own schema, and of its documentation, on the members that are written.
const (
	sastSchema    = "testdata/gitlab-sast.schema.json"
	qualitySchema = "testdata/gitlab-codequality.schema.json"
)

func compiled(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	doc, err := jsonschema.UnmarshalJSON(f)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("https://example.org/schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("https://example.org/schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// gitlabReports are the two reports of findings whose texts are hostile.
func gitlabReports(t *testing.T) (sast, quality []byte) {
	t.Helper()
	var log, a, b bytes.Buffer
	if err := SARIF(&log, sample("evil\n\x1b[31m"), SARIFOptions{Default: At(".mcp.json")}); err != nil {
		t.Fatal(err)
	}
	if err := GitLabSAST(&a, Scan{}, log.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := CodeQuality(&b, log.Bytes()); err != nil {
		t.Fatal(err)
	}
	return a.Bytes(), b.Bytes()
}

// TestGitLabRefuses: both reports are valid, and none of their members can be left out, or be of
// another type, without the schema's notice: a schema that takes everything would prove nothing.
func TestGitLabRefuses(t *testing.T) {
	t.Parallel()
	sast, quality := gitlabReports(t)
	// Members that GitLab does not ask for.
	free := map[string]bool{"schema": true, "url": true, "name": true, "description": true, "severity": true, "file": true, "start_line": true}
	for _, c := range []struct {
		name     string
		schema   string
		report   []byte
		optional map[string]bool
	}{{"SAST", sastSchema, sast, free}, {"Code Quality", qualitySchema, quality, nil}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := compiled(t, c.schema)
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(c.report))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(doc); err != nil {
				t.Fatal(err)
			}
			tried := 0
			change(doc, "", func(member string, lacks bool) {
				tried++
				if err := s.Validate(doc); err == nil && (!lacks || !c.optional[member]) {
					t.Errorf("%s: lacks %t: the schema takes it", member, lacks)
				}
			})
			if tried < 15 {
				t.Errorf("only %d changes were tried", tried)
			}
		})
	}
}

// change makes one change after another within a JSON value, tells of it, and takes it back: each
// member away, and each of another type. Of a list the first element stands for all.
func change(v any, at string, tell func(member string, lacks bool)) {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 {
			change(v[0], at, tell)
		}
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			was := v[key]
			delete(v, key)
			tell(key, true)
			v[key] = true
			tell(key, false)
			v[key] = was
			change(was, at+"/"+key, tell)
		}
	}
}

// GitLab's own schema is held against where COALMINE_GITLAB_SCHEMA names its file.
func TestGitLabsOwnSchema(t *testing.T) {
	t.Parallel()
	names := []string{sastSchema}
	if own := os.Getenv("COALMINE_GITLAB_SCHEMA"); own != "" {
		names = append(names, own)
	}
	sast, _ := gitlabReports(t)
	for _, name := range names {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(sast))
		if err != nil {
			t.Fatal(err)
		}
		if err := compiled(t, name).Validate(doc); err != nil {
			t.Error(fmt.Errorf("%s: %w", name, err))
		}
	}
}
