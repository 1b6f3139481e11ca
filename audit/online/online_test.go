package online

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit"
)

// written answers from testdata by the end of the address. The answers follow the published
// schemas (testdata/README.md); nobody recorded them.
type written map[string]string

func (w written) Ask(_ context.Context, q Question) (Answer, error) {
	for end, file := range w {
		if !strings.HasSuffix(q.URL, end) {
			continue
		}
		switch {
		case file == "":
			return Answer{}, errors.New("no network")
		case file == "404":
			return Answer{Status: 404}, nil
		case strings.HasPrefix(file, "{"):
			return Answer{200, []byte(file)}, nil
		}
		data, err := os.ReadFile("testdata/" + file)
		payload, errPayload := os.ReadFile("testdata/statement.json")
		if err := errors.Join(err, errPayload); err != nil {
			return Answer{}, err
		}
		return Answer{200, []byte(strings.ReplaceAll(string(data), "STATEMENT", base64.StdEncoding.EncodeToString(payload)))}, nil
	}
	return Answer{Status: 404}, nil
}

func check(t *testing.T, w Asker, s Subject) string {
	t.Helper()
	s.Now, s.Recent = time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC), 7*24*time.Hour
	found, err := Check(t.Context(), w, s)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, f := range found {
		out = append(out, fmt.Sprint(f.Rule, " ", f.Severity, ": ", f.Message))
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

func TestNPM(t *testing.T) {
	t.Parallel()
	own := Subject{Package: audit.LockedPackage{Ecosystem: audit.NPM, Name: "@notes/server", Version: "1.2.0"}, Repository: "git+https://github.com/notes/server.git"}
	quiet := written{"/@notes%2Fserver": "packument.json", "/@notes%2Fserver@1.2.0": "attestations.json", "/querybatch": `{"results":[{}]}`}
	want := "prov-maintainers medium: version 1.2.0 was published by mallory, who was no maintainer of 1.1.0\nprov-recent low: version 1.2.0 was published 2 days ago: few have looked at it yet"
	if got := check(t, quiet, own); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	other := own
	other.Repository = "github:notes/elsewhere"
	if got := check(t, quiet, other); !strings.Contains(got, "prov-repository medium: the provenance says that it was built from notes/server") {
		t.Error(got)
	}
	old := own
	old.Package.Version = "1.0.0"
	if got := check(t, quiet, old); !strings.Contains(got, "prov-deprecated medium: the version is deprecated: use 1.1.0") || !strings.Contains(got, "prov-unsigned info") || !strings.Contains(got, "prov-single-maintainer info") {
		t.Error(got)
	}
	none := own
	none.Package.Version = "9.9.9"
	if got := check(t, quiet, none); !strings.Contains(got, "prov-not-in-registry high: npm has no version 9.9.9") {
		t.Error(got)
	}
}

func TestPyPI(t *testing.T) {
	t.Parallel()
	own := Subject{Package: audit.LockedPackage{Ecosystem: audit.PyPI, Name: "notes", Version: "1.0"}}
	w := written{"/pypi/notes/1.0/json": "project.json", "/pypi/notes/json": "project.json", "/provenance": "provenance.json", "/querybatch": `{"results":[{}]}`}
	want := "prov-deprecated medium: the version was yanked: broken\nprov-repository medium: the provenance says that it was built from someone/notes, and its manifest names notes/notes\nprov-stale low: the latest version was published 1054 days ago"
	if got := check(t, w, own); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	w["/provenance"] = "404"
	if got := check(t, w, own); !strings.Contains(got, "prov-unsigned info") {
		t.Error(got)
	}
}

// Each rule of glassport's provenance has its severity there; note is info here.
func TestProvenancesOfTheRubric(t *testing.T) {
	t.Parallel()
	answers := written{"/@notes%2Fserver": "packument.json", "/@notes%2Fserver@1.2.0": "attestations.json", "/pypi/notes/1.0/json": "project.json", "/pypi/notes/json": "project.json", "/provenance": "provenance.json", "/querybatch": `{"results":[{}]}`}
	npm := func(version string) audit.LockedPackage {
		return audit.LockedPackage{Ecosystem: audit.NPM, Name: "@notes/server", Version: version}
	}
	for _, c := range []struct {
		want   string
		of     audit.LockedPackage
		answer written
	}{
		{"prov-not-in-registry high", npm("9.9.9"), answers},
		{"prov-deprecated medium", npm("1.0.0"), answers},
		{"prov-stale low", audit.LockedPackage{Ecosystem: audit.PyPI, Name: "notes", Version: "1.0"}, answers},
		{"prov-single-maintainer info", npm("1.0.0"), answers},
		{"prov-unsigned info", npm("1.0.0"), answers},
		{"prov-unavailable info", npm("1.0.0"), written{"": ""}},
	} {
		if got := check(t, c.answer, Subject{Package: c.of}); !strings.Contains(got, c.want+": ") {
			t.Errorf("%s: %s", c.want, got)
		}
	}
}

func TestOSV(t *testing.T) {
	t.Parallel()
	locked := []audit.LockedPackage{{Ecosystem: audit.NPM, Name: "left", Version: "1.0.0", Path: "package-lock.json"}, {Ecosystem: audit.NPM, Name: "bad name", Version: "1"}, {Ecosystem: audit.PyPI, Name: "right", Version: "2.0", Path: "uv.lock"}}
	w := written{"/querybatch": "querybatch.json", "/GHSA-aaaa-bbbb-cccc": "vuln.json", "/MAL-2026-1": "404", "/GHSA-with-drawn": `{"id":"x","withdrawn":"2026-01-01T00:00:00Z"}`}
	want := "vuln-known critical: right 2.0 has a known vulnerability, MAL-2026-1\nvuln-known high: left 1.0.0 has a known vulnerability, GHSA-aaaa-bbbb-cccc: Prototype pollution in left (fixed in 1.0.1)"
	if got := check(t, w, Subject{Locked: locked}); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// Nothing is said to be well where nobody answered.
func TestOffline(t *testing.T) {
	t.Parallel()
	own := Subject{Package: audit.LockedPackage{Ecosystem: audit.NPM, Name: "notes", Version: "1.0.0"}}
	for name, w := range map[string]written{
		"no network": {"": ""}, "no JSON": {"": "{x"}, "other lengths": {"/notes": "", "/querybatch": `{"results":[]}`},
	} {
		got := check(t, w, own)
		if !strings.Contains(got, "prov-unavailable info: OSV gave no readable answer") || !strings.Contains(got, "prov-unavailable info: the registry of npm gave no readable answer") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// What a service says is shown without what a terminal would obey, and bounded.
func TestHostileAnswers(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	w := written{"/querybatch": `{"results":[{"vulns":[{"id":"GHSA-1"},{"id":"../../etc"}]}]}`, "/GHSA-1": "{\"summary\":\"\\u001b[31m" + long + "\"}"}
	got := check(t, w, Subject{Locked: []audit.LockedPackage{{Ecosystem: audit.NPM, Name: "a", Version: "1.0.0"}}})
	if strings.Contains(got, "\x1b") || len(got) > 500 || strings.Count(got, "vuln-known") != 1 {
		t.Errorf("%.600q", got)
	}
}

func TestRepositories(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"git+https://github.com/A/b.git": "a/b", "github:a/b": "a/b", "git@github.com:a/b.git": "a/b", "https://github.com/a/b/tree/main/x": "a/b", "a/b": "a/b", "https://gitlab.com/a/b": "", "": "", "x": "",
	} {
		if got := repositoryOf(address); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	f.Add([]byte(`{"results":[{"vulns":[{"id":"GHSA-1"}],"next_page_token":"x"}]}`), []byte(`{"versions":{"1.0.0":{"deprecated":"x"}}}`))
	f.Fuzz(func(t *testing.T, batch, page []byte) {
		ask := asker(func(q Question) Answer {
			if q.Body != nil {
				return Answer{200, batch}
			}
			return Answer{200, page}
		})
		for _, e := range []string{audit.NPM, audit.PyPI} {
			found, err := Check(t.Context(), ask, Subject{Package: audit.LockedPackage{Ecosystem: e, Name: "a", Version: "1.0.0"}})
			if err != nil {
				t.Fatal(err)
			}
			for _, x := range found {
				if len(x.Message) > 500 || x.Severity.Rank() == 0 || x.Severity == finding.Critical && x.Rule != audit.VulnKnown {
					t.Fatalf("%+v", x)
				}
			}
		}
	})
}

type asker func(Question) Answer

func (a asker) Ask(_ context.Context, q Question) (Answer, error) { return a(q), nil }
