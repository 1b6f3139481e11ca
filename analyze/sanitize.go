package analyze

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/canaries"
)

// maxString bounds every text of a Result that a server has a say in.
const maxString = 4 << 10

// sanitize bounds every text of a Result and takes the decoys' values out of it. It
// looks at all texts alike, so that no member added later is forgotten. The
// audit's report, which knows no decoys, stays as it is.
func sanitize(res *Result, set *canaries.Set) {
	report := res.Audit
	res.Audit = nil
	s := sanitizer{set: set}
	observed := res.Observed
	res.Observed = nil
	s.look(res)
	s.look(res.Timelines)
	res.Observed = observed
	for some := range slices.Chunk(observed, 1000) { // of which a long run has fifty thousand
		s.look(some)
	}
	s.walk(reflect.ValueOf(res).Elem())
	res.Audit = report
}

type sanitizer struct {
	set    *canaries.Set
	redact bool
}

// look sees whether a decoy stands in a part of a Result.
func (s *sanitizer) look(part any) {
	if whole, err := json.Marshal(part); err != nil || len(s.set.Find(whole)) > 0 {
		s.redact = true
	}
}

func (s *sanitizer) walk(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() {
			v.SetString(s.text(v.String()))
		}
	case reflect.Pointer:
		s.walk(v.Elem())
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			s.walk(v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			s.walk(v.Field(i))
		}
	default: // no other kind of a Result holds text
	}
}

func (s *sanitizer) text(t string) string {
	if s.redact && t != "" {
		if hits := s.set.Find([]byte(t)); len(hits) > 0 {
			t = s.set.Redact(t)
			// What is encoded has no bounds that could be cut at.
			if hits = s.set.Find([]byte(t)); len(hits) > 0 {
				t = "[a text that holds " + hits[0].ID + ", " + hits[0].Encoding + "]"
			}
		}
	}
	return clip(t, maxString)
}

// clip keeps at most n bytes, whole characters only.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	s = s[:n]
	for s != "" {
		if r, size := utf8.DecodeLastRuneInString(s); r != utf8.RuneError || size > 1 {
			break
		}
		s = s[:len(s)-1]
	}
	return strings.TrimSpace(s) + "…"
}
