package attest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
)

var now = time.Date(2026, 1, 15, 12, 0, 0, 0, time.UTC)

func pair(t testing.TB) (*Signer, []*Verifier) {
	t.Helper()
	private, public, err := NewKey()
	if err != nil {
		t.Fatal(err)
	}
	s, err := ParseSigner(private)
	if err != nil {
		t.Fatal(err)
	}
	v, err := ParseVerifiers(public)
	if err != nil || len(v) != 1 || v[0].id != s.id {
		t.Fatal(v, err)
	}
	if _, err := ParseSigner(public); err == nil {
		t.Error("a public key signs")
	}
	if _, err := ParseVerifiers(private); err == nil {
		t.Error("a private key is taken for a public one")
	}
	return s, v
}

func effort() plan.Effort {
	return plan.Effort{Budget: plan.Budget{Calls: 8, Timeout: time.Minute, CallTimeout: time.Second, OracleTime: time.Second, Idle: time.Second}, Vary: []string{"ci"}}
}

func sample(change func(*plan.Content, *Verdict)) *Statement {
	c := &plan.Content{Name: "notes", Version: "1.0.0", Digest: "sha256:" + strings.Repeat("ab", 32), Effort: effort()}
	v := Verdict{
		Coalmine: Program{Version: "1.4.0", Digest: "sha256:aa"}, JudgedBy: "sha256:bb", Verdict: "clean", Findings: map[string]int{"low": 1}, Report: "sha256:cc",
		Ran: now.Add(-time.Hour), Judged: now.Add(-time.Hour), Expires: now.Add(time.Hour),
	}
	if change != nil {
		change(c, &v)
	}
	s, err := New(c, v)
	if err != nil {
		panic(err)
	}
	return s
}

func wanted() *Wanted {
	return &Wanted{Target: &plan.Content{Digest: "sha256:" + strings.Repeat("ab", 32), Effort: effort()}, Coalmine: Program{Version: "1.4.0", Digest: "sha256:dd"}, JudgedBy: "sha256:bb", FailOn: finding.High, Now: now}
}

func signed(t testing.TB, s *Statement, key *Signer) []byte {
	t.Helper()
	line, err := Sign(context.Background(), s, key)
	if err != nil {
		t.Fatal(err)
	}
	return line
}

// A statement stands for a run only where it covers all that the run would be.
func TestAccepts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*plan.Content, *Verdict)
		want   func(*Wanted)
		why    string
	}{
		"the same":                     {},
		"more calls":                   {change: func(c *plan.Content, _ *Verdict) { c.Effort.Calls = 80 }},
		"a later release":              {change: func(_ *plan.Content, v *Verdict) { v.Coalmine.Version = "v1.10.0" }},
		"another target":               {change: func(c *plan.Content, _ *Verdict) { c.Digest = "sha256:" + strings.Repeat("cd", 32) }, why: "it is for another target"},
		"another policy":               {change: func(_ *plan.Content, v *Verdict) { v.JudgedBy = "sha256:ee" }, why: "another policy"},
		"an earlier release":           {change: func(_ *plan.Content, v *Verdict) { v.Coalmine.Version = "1.3.9" }, why: "its rules are those of coalmine 1.3.9"},
		"a build that is no release":   {change: func(_ *plan.Content, v *Verdict) { v.Coalmine.Version = "devel" }, why: "its rules"},
		"a prerelease":                 {change: func(_ *plan.Content, v *Verdict) { v.Coalmine.Version = "2.0.0-rc.1" }, why: "its rules"},
		"the same build, no release":   {change: func(_ *plan.Content, v *Verdict) { v.Coalmine.Version = "devel" }, want: func(w *Wanted) { w.Coalmine.Digest = "sha256:aa" }},
		"expired":                      {change: func(_ *plan.Content, v *Verdict) { v.Expires = now.Add(-time.Second) }, why: "it expired"},
		"valid for too long":           {change: func(_ *plan.Content, v *Verdict) { v.Ran, v.Expires = now.AddDate(-2, 0, 0), now.AddDate(9, 0, 0) }, why: "it expired"},
		"of tomorrow":                  {change: func(_ *plan.Content, v *Verdict) { v.Judged = now.Add(time.Hour) }, why: "yet to come"},
		"fewer calls":                  {change: func(c *plan.Content, _ *Verdict) { c.Effort.Calls = 7 }, why: "7 calls of each tool, not 8"},
		"less time":                    {change: func(c *plan.Content, _ *Verdict) { c.Effort.OracleTime = 0 }, why: "0s for the oracles, not 1s"},
		"other conditions":             {change: func(c *plan.Content, _ *Verdict) { c.Effort.Vary = []string{"clock"} }, why: "another ci"},
		"findings":                     {change: func(_ *plan.Content, v *Verdict) { v.Verdict = "findings" }, why: "only a clean one"},
		"inconclusive":                 {change: func(_ *plan.Content, v *Verdict) { v.Verdict = "inconclusive" }, why: "only a clean one"},
		"a finding at the threshold":   {want: func(w *Wanted) { w.FailOn = finding.Low }, why: "1 findings of severity low"},
		"a severity that is not known": {change: func(_ *plan.Content, v *Verdict) { v.Findings = map[string]int{"mild": 1} }, why: "severity mild"},
	} {
		w := wanted()
		if c.want != nil {
			c.want(w)
		}
		err := w.Accepts(sample(c.change))
		if (err == nil) != (c.why == "") || err != nil && !strings.Contains(err.Error(), c.why) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Nothing that was changed after it was signed, or that another key signed, is opened.
func TestOpen(t *testing.T) {
	t.Parallel()
	key, trusted := pair(t)
	other, _ := pair(t)
	ctx := context.Background()
	line := signed(t, sample(nil), key)
	if s, err := Open(ctx, line, trusted); err != nil || s.Digest() != wanted().Target.Digest || s.Predicate.Verdict != "clean" {
		t.Fatal(s, err)
	}
	_, more := pair(t)
	if _, err := Open(ctx, line, append(more, trusted...)); err != nil {
		t.Errorf("the second of two trusted keys: %v", err)
	}
	var e map[string]any
	if err := json.Unmarshal(line, &e); err != nil {
		t.Fatal(err)
	}
	changed := func(name string, value any) []byte {
		e := map[string]any{"payloadType": e["payloadType"], "payload": e["payload"], "signatures": e["signatures"]}
		e[name] = value
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	forged, err := json.Marshal(sample(func(c *plan.Content, _ *Verdict) { c.Name = "evil" }))
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		line []byte
		keys []*Verifier
		want error
	}{
		"another payload":   {changed("payload", base64.StdEncoding.EncodeToString(forged)), trusted, ErrForged},
		"another key":       {signed(t, sample(nil), other), trusted, ErrForged},
		"no trusted key":    {line, nil, ErrForged},
		"no signature":      {changed("signatures", []any{}), trusted, nil},
		"many signatures":   {changed("signatures", make([]map[string]string, 17)), trusted, nil},
		"an empty one":      {changed("signatures", []map[string]string{{}}), trusted, ErrForged},
		"another type":      {changed("payloadType", "application/json"), trusted, nil},
		"no envelope":       {[]byte("[]"), trusted, nil},
		"nothing":           {nil, trusted, nil},
		"too long":          {[]byte(strings.Repeat(" ", maxEnvelope) + string(line)), trusted, nil},
		"no base64":         {changed("payload", "%"), trusted, ErrForged},
		"other attestation": {signed(t, &Statement{Type: StatementType, PredicateType: "https://slsa.dev/provenance/v1", Subject: sample(nil).Subject}, key), trusted, nil},
		"no subject":        {signed(t, &Statement{Type: StatementType, PredicateType: PredicateType}, key), trusted, nil},
		"nothing said":      {signed(t, &Statement{Type: StatementType, PredicateType: PredicateType, Subject: sample(nil).Subject}, key), trusted, nil},
	} {
		if s, err := Open(ctx, c.line, c.keys); err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

// A store is a directory, a file or an address, and none of them makes a statement hold.
func TestFind(t *testing.T) {
	t.Parallel()
	key, trusted := pair(t)
	other, _ := pair(t)
	ctx := context.Background()
	dir := t.TempDir()
	put := func(name string, lines ...[]byte) string {
		var all []byte
		for _, l := range lines {
			all = append(all, l...)
		}
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, all, 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	good := signed(t, sample(nil), key)
	elsewhere := signed(t, sample(func(c *plan.Content, _ *Verdict) { c.Digest = "sha256:" + strings.Repeat("cd", 32) }), key)
	expired := signed(t, sample(func(_ *plan.Content, v *Verdict) { v.Expires = v.Ran }), key)
	forged := signed(t, sample(nil), other)
	name := FileName(wanted().Target.Digest)
	s := httptest.NewServer(http.FileServer(http.Dir(dir)))
	t.Cleanup(s.Close)
	away := httptest.NewServer(http.RedirectHandler("https://example.com/x", http.StatusFound))
	t.Cleanup(away.Close)
	for _, c := range []struct {
		name  string
		lines [][]byte
		found bool
		why   []string
	}{
		{"one", [][]byte{good}, true, nil},
		{"after others", [][]byte{forged, expired, []byte("\n"), good}, true, nil},
		{"forged", [][]byte{forged}, false, []string{ErrForged.Error()}},
		{"expired", [][]byte{expired}, false, []string{"it expired at 2026-01-15T11:00:00Z"}},
		{"none", nil, false, nil},
	} {
		put(name, c.lines...)
		shared := put("all.jsonl", append([][]byte{elsewhere}, c.lines...)...)
		for _, store := range []string{dir, shared, s.URL} {
			got, why, err := Find(ctx, store, wanted(), trusted)
			if err != nil || (got != nil) != c.found || strings.Join(why, "; ") != strings.Join(c.why, "; ") {
				t.Errorf("%s in %s: %v, %q, %v", c.name, store, got != nil, why, err)
			}
		}
	}
	put(name, elsewhere)
	if got, why, err := Find(ctx, dir, wanted(), trusted); got != nil || err != nil || len(why) != 1 || !strings.Contains(why[0], "it is for another target") {
		t.Errorf("replayed under another name: %v, %q, %v", got, why, err)
	}
	if err := os.Remove(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
	for _, store := range []string{dir, s.URL} {
		if got, why, err := Find(ctx, store, wanted(), trusted); got != nil || why != nil || err != nil {
			t.Errorf("%s without the target: %v, %q, %v", store, got, why, err)
		}
	}
	for _, bad := range []string{"http://example.com/x", away.URL, filepath.Join(dir, "nowhere"), "https://[::1"} {
		if _, _, err := Find(ctx, bad, wanted(), trusted); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

func TestJudgedBy(t *testing.T) {
	t.Parallel()
	seen := map[string]string{}
	f := &analyze.File{Name: "a", Text: "x"}
	for name, in := range map[string]analyze.Inputs{
		"nothing": {}, "policy": {Policy: f}, "baseline": {Baseline: f}, "rules": {Rules: []analyze.File{*f}}, "policy's rules": {PolicyRules: []analyze.File{*f}},
	} {
		sum, err := JudgedBy(&in)
		if err != nil || seen[sum] != "" {
			t.Errorf("%s has the digest of %q: %v", name, seen[sum], err)
		}
		seen[sum] = name
	}
	renamed, err := JudgedBy(&analyze.Inputs{Policy: &analyze.File{Name: "b", Text: "x"}})
	if err != nil || seen[renamed] != "policy" {
		t.Errorf("a name changes a policy: %v", err)
	}
	for _, in := range []analyze.Inputs{{Earlier: []*analyze.Earlier{{}}}, {Changed: make([]rules.Changed, 1)}} {
		if _, err := JudgedBy(&in); err == nil {
			t.Errorf("%+v has a digest", in)
		}
	}
}

func TestNewNeedsADigest(t *testing.T) {
	t.Parallel()
	for _, c := range []plan.Content{{Unknown: "why"}, {Digest: "sha256:AB"}, {Digest: "sha256:" + strings.Repeat("AB", 32)}} {
		if s, err := New(&c, Verdict{}); err == nil {
			t.Errorf("%+v", s)
		}
	}
}

func FuzzOpen(f *testing.F) {
	key, trusted := pair(f)
	f.Add(signed(f, sample(nil), key))
	f.Add([]byte(`{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{"sig":"AA=="}]}`))
	f.Fuzz(func(t *testing.T, line []byte) {
		s, err := Open(context.Background(), line, trusted)
		if err == nil {
			_ = fmt.Sprint(s.Digest(), wanted().Accepts(s))
		}
		if s, err := decode(line); err == nil && !isSum(s.Subject[0].Digest["sha256"]) {
			t.Errorf("%+v", s)
		}
	})
}
