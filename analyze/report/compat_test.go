package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
)

// testdata/v1.report.json and v1.schema.json are the first report and the first
// schema of coalmine/report/v1. They are never written anew: who reads v1 wrote
// the reader against them.

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func TestTheFirstReportIsStillRead(t *testing.T) {
	raw := readFile(t, "testdata/v1.report.json")
	validate(t, compile(t, "https://example.org/report.json", Schema), raw)
	var res analyze.Result
	if err := json.Unmarshal(raw, &res); err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := JSON(&again, &res); err != nil {
		t.Fatal(err)
	}
	var was, is any
	if err := json.Unmarshal(raw, &was); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(again.Bytes(), &is); err != nil {
		t.Fatal(err)
	}
	for _, lost := range missing("", was, is) {
		t.Errorf("%s is lost", lost)
	}
	for form, raw := range reportsOf(t, &res) {
		if len(raw) == 0 {
			t.Errorf("no %s can be made of it", form)
		}
	}
}

// missing lists what of was is not in is, or is otherwise there.
func missing(at string, was, is any) []string {
	switch w := was.(type) {
	case map[string]any:
		m, ok := is.(map[string]any)
		if !ok {
			return []string{at}
		}
		var out []string
		for k, v := range w {
			out = append(out, missing(at+"/"+k, v, m[k])...)
		}
		return out
	case []any:
		l, ok := is.([]any)
		if !ok || len(l) != len(w) {
			return []string{at}
		}
		var out []string
		for i, v := range w {
			out = append(out, missing(fmt.Sprintf("%s/%d", at, i), v, l[i])...)
		}
		return out
	}
	if was != is {
		return []string{at}
	}
	return nil
}

// Today's reports keep the first schema, for whoever validates by it.
func TestReportsKeepTheFirstSchema(t *testing.T) {
	first := compile(t, "https://example.org/v1.json", readFile(t, "testdata/v1.schema.json"))
	for name, res := range judged(t) {
		var b bytes.Buffer
		if err := JSON(&b, res); err != nil {
			t.Fatal(err)
		}
		t.Run(name, func(t *testing.T) { validate(t, first, b.Bytes()) })
	}
}

// The schema only grows: no member becomes required, is renamed or changes its type.
func TestTheSchemaOnlyGrows(t *testing.T) {
	var was, is map[string]any
	if err := json.Unmarshal(readFile(t, "testdata/v1.schema.json"), &was); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(Schema, &is); err != nil {
		t.Fatal(err)
	}
	grows(t, "", was, is)
}

func grows(t *testing.T, at string, was, is map[string]any) {
	t.Helper()
	if fmt.Sprint(was["type"]) != fmt.Sprint(is["type"]) {
		t.Errorf("%s: was of type %v, is of type %v", at, was["type"], is["type"])
	}
	required, _ := was["required"].([]any)
	now, _ := is["required"].([]any)
	for _, r := range now {
		if !slices.Contains(required, r) {
			t.Errorf("%s: %v has become required", at, r)
		}
	}
	for _, group := range []string{"properties", "$defs"} {
		before, _ := was[group].(map[string]any)
		after, _ := is[group].(map[string]any)
		for k, v := range before {
			next, ok := after[k].(map[string]any)
			if !ok {
				t.Errorf("%s/%s is gone", at, k)
				continue
			}
			grows(t, at+"/"+k, v.(map[string]any), next)
		}
	}
	if before, ok := was["items"].(map[string]any); ok {
		after, _ := is["items"].(map[string]any)
		grows(t, at+"/[]", before, after)
	}
}
