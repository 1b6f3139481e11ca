package plan

import (
	"bytes"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth"
)

// planned is a plan with something in every member that is written.
func planned(t *testing.T) Plan {
	t.Helper()
	o := Options{Target: Target{Command: []string{"/bin/echo", "top-secret-value"}, Name: "notes"}, Seed: 7}
	o.Env = map[string]string{"API_KEY": "0123456789abcdef0123"}
	o.Dummies = map[string]string{"MODE": "plain"}
	o.PassEnv = []string{"COALMINE_TEST_PASSED"}
	t.Setenv("COALMINE_TEST_PASSED", "top-secret-value")
	o.Fill()
	p, err := New(o, nil, Account{})
	if err != nil {
		t.Fatal(err)
	}
	p.Experiment, p.Vary = "vary-ci-2", &session.Vary{Factor: "ci", How: "with CI=true"}
	p.Drive.Steps = []synth.Step{{What: "tool", Name: "read", Args: []byte(`{"path":"` + p.Decoys.Canaries()[0].Value[:8] + `"}`), Oracles: []session.Injection{{Oracle: session.OraclePath, Path: "/x", Value: "planted here"}}}}
	return p
}

// No value of a decoy, a variable or an oracle's file is written, and all else is.
func TestEncodeLeavesSecretsOut(t *testing.T) {
	p := planned(t)
	data, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if hits := p.Decoys.Find(data); len(hits) > 0 {
		t.Errorf("the plan holds %v", hits)
	}
	for _, secret := range []string{"planted here", "0123456789abcdef0123"} {
		if bytes.Contains(data, []byte(secret)) {
			t.Errorf("the plan holds %q", secret)
		}
	}
	got, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	want := p
	want.Files, want.Placed, want.Decoys, want.Oracles, want.Redactor, want.Hosts = nil, 0, nil, nil, nil, nil
	want.Env = slices.Clone(p.Env)
	for i := range want.Env {
		want.Env[i].Passed, want.Env[i].Decoy = false, ""
		if want.Env[i].Secret {
			want.Env[i].Value = ""
		}
	}
	want.Drive.Steps = slices.Clone(p.Drive.Steps)
	synth.Aim(want.Drive.Steps, func(string) string { return "" })
	same := cmp.FilterPath(func(p cmp.Path) bool { return strings.HasSuffix(p.String(), "Args") }, cmp.Ignore())
	if diff := cmp.Diff(want, got, same); diff != "" {
		t.Errorf("read again it is another plan (-want +got): %s", diff)
	}
}

// What runs without the values that the user passed has others of their shape, or those that
// it would have had anyway.
func TestUnpassed(t *testing.T) {
	o := Options{Target: Target{Command: []string{"/bin/true"}}}
	o.Env = map[string]string{"OTHER": "configured"}
	o.PassEnv = []string{"COALMINE_TEST_PASSED", "PATH", "OTHER", "PIN"}
	t.Setenv("COALMINE_TEST_PASSED", "real-Value-0123456789")
	t.Setenv("PATH", "/home/dana/bin:/usr/bin")
	t.Setenv("OTHER", "real")
	t.Setenv("PIN", "47114711")
	o.Fill()
	p, err := New(o, nil, Account{})
	if err != nil {
		t.Fatal(err)
	}
	values := func(p Plan) map[string]string {
		out := map[string]string{}
		for _, v := range p.Env {
			out[v.Name] = v.Value
		}
		return out
	}
	got, with := values(p.Unpassed()), values(p)
	for _, name := range o.PassEnv {
		if with[name] != os.Getenv(name) {
			t.Errorf("%s=%s is not passed", name, with[name])
		}
		if got[name] == os.Getenv(name) || got[name] == "" {
			t.Errorf("%s=%q in place of %q", name, got[name], os.Getenv(name))
		}
	}
	if got["OTHER"] != "configured" || !strings.HasPrefix(got["PATH"], "/usr/local/sbin:") || len(got["COALMINE_TEST_PASSED"]) != len("real-Value-0123456789") {
		t.Errorf("%v", got)
	}
	if len(got) != len(with) {
		t.Errorf("%d variables, with values %d", len(got), len(with))
	}
}

// A replay's arguments may hold what the server answered.
func TestWithoutDecoys(t *testing.T) {
	p := planned(t)
	data, err := json.Marshal(map[string]string{"b": p.Decoys.Canaries()[0].Value})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := p.WithoutDecoys(data); err != nil || len(p.Decoys.Find(out)) > 0 {
		t.Errorf("%s %v", out, err)
	}
}

// TestValuesThatStay: a value that no redactor can tell from a report's own words is
// named, and the others are told.
func TestValuesThatStay(t *testing.T) {
	r, left := redactor([]passedValue{{"PORT", "80"}, {"EMPTY", ""}, {"KIND", "object"}, {"TOKEN", "hunter2!"}})
	if r.Redact("80 object hunter2!") != "80 object [passed]" || len(left) != 2 || !strings.HasPrefix(left[0], "PORT: its value has 2 ") || !strings.HasPrefix(left[1], "KIND: its value is a word ") {
		t.Errorf("%q", left)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"no JSON": "{", "no schema": "{}", "another schema": `{"schema":"coalmine/plan/v9"}`,
		"a relative home": `{"schema":"coalmine/plan/v1","identity":{"home":"../x"}}`, "a home that climbs": `{"schema":"coalmine/plan/v1","identity":{"home":"/home/../etc"}}`,
	} {
		if _, err := Decode([]byte(text)); err == nil {
			t.Errorf("%s is taken", name)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte(`{"schema":"coalmine/plan/v1","run":"00","env":[{"name":"A","secret":true}],"drive":{"kind":"play","steps":[{"what":"tool","name":"x"}]}}`))
	f.Add([]byte(`{"schema":"coalmine/plan/v1","vary":null,"budget":{"timeout":-1}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Decode(data)
		if err != nil {
			return
		}
		again, err := p.Encode()
		if err != nil {
			return // a name or an argument that JSON cannot hold
		}
		if _, err := Decode(again); err != nil {
			t.Errorf("%s was written and cannot be read: %v", again, err)
		}
	})
}

// Whoever changes a copy leaves the plan as it was.
func TestCopiesShareNothingThatChanges(t *testing.T) {
	p := planned(t)
	before, err := p.Encode()
	if err != nil {
		t.Fatal(err)
	}
	q := p.With(Variable{Name: "HOME", Value: "/elsewhere"}, Variable{Name: "NEW", Value: "1"}).Playing(nil)
	if q, err = q.For("other"); err != nil {
		t.Fatal(err)
	}
	after, err := p.Encode()
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("a copy's change reached the plan: %v", err)
	}
	if q.RunID == p.RunID || q.Experiment != "other" || q.Drive.Kind != DrivePlay || q.Budget.Idle > 200*time.Millisecond {
		t.Errorf("the copy is %+v", q)
	}
}

// Made-up values follow from the seed, replace no value that is there, and are told from the plan alone.
func TestSupplying(t *testing.T) {
	p := planned(t).With(Variable{Name: "SET", Value: "1"}, Variable{Name: "EMPTY"})
	names := p.Unset([]string{"SET", "EMPTY", "NEW"})
	if strings.Join(names, ",") != "EMPTY,NEW" {
		t.Fatalf("%q are not set", names)
	}
	a, b := p.Supplying(names), p.Supplying(names)
	b.Seed++
	n := len(p.Server.Dummies)
	if !slices.Equal(a.Server.Dummies, b.Server.Dummies) || len(a.Server.Dummies) != n+2 {
		t.Errorf("%q, then %q", a.Server.Dummies, b.Server.Dummies)
	}
	if c := b.Supplying(names[:1]); slices.Contains(a.Server.Dummies, c.Server.Dummies[n+2]) {
		t.Error("another seed has the same value")
	}
	if len(a.Unset(names)) != 0 {
		t.Errorf("%q are not set yet", a.Unset(names))
	}
}

// A plan that is made anew, with other decoys, speaks to the server as the run before learned to.
func TestShowingAs(t *testing.T) {
	found := planned(t).SpeakingOver(TransportHTTP).Introduced().Supplying([]string{"NEW"})
	p := planned(t).ShowingAs(found)
	if p.Server.Transport != TransportHTTP || p.Server.Guessed || !p.Server.Initialize || !slices.Equal(p.Server.MadeUp, []string{"NEW"}) || len(p.Unset([]string{"NEW"})) != 0 {
		t.Errorf("%+v", p.Server)
	}
	if again := p.ShowingAs(found); len(again.Server.Dummies) != len(p.Server.Dummies) {
		t.Errorf("supplied twice: %q", again.Server.Dummies)
	}
}
