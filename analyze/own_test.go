package analyze_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/custom"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/policy"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// ownRule is a rule of the user's own, whose examples nobody holds it against here.
func ownRule(id, severity, over, when, text string) string {
	return fmt.Sprintf("  - {id: %s, name: A rule, severity: %s, over: %s, when: %q, text: %q, examples: {match: [{}], no_match: [{}]}}\n", id, severity, over, when, text)
}

func ownRules(t testing.TB, rules ...string) *custom.Set {
	t.Helper()
	set, err := custom.Compile(nil, []custom.File{{Name: "rules.yaml", Text: "rules:\n" + strings.Join(rules, "")}})
	if err != nil {
		t.Fatal(err)
	}
	return set
}

// worked is a run with a bit of everything.
func worked(t *testing.T) *analyzetest.Log {
	l := analyzetest.New(t, nil)
	l.Begin(analyzetest.Note, `{"name":"get","description":"Fetches a page.","annotations":{"readOnlyHint":true},"inputSchema":{"properties":{"url":{"type":"string"}}}}`)
	for i := range 2 {
		l.Call("get", fmt.Sprintf(`{"url":"https://a.example/%d","limit":5,"key":%q}`, i, analyzetest.Canary(t, "ssh-key").Value), func() {
			l.Record(trace.Record{Op: trace.OpExec, Path: "/usr/bin/curl", Argv: []string{"curl", "-k"}})
			l.Open(analyzetest.Workspace+"/x", "O_WRONLY|O_CREAT", "")
			l.Read(sshKey)
		}, nil)
	}
	l.Call("ghost", `{}`, func() { l.Record(trace.Record{Op: trace.OpExec, Path: "/usr/bin/id", Argv: []string{"id"}}) }, nil)
	l.End()
	return l
}

// ofOwn are the findings of the user's own rules, one a line.
func ofOwn(res *analyze.Result) string {
	var out []string
	for _, f := range res.Findings {
		if strings.HasPrefix(f.Rule, "ORG-") {
			out = append(out, fmt.Sprintf("%s %s %s#%d %s %s: %s", f.Rule, f.Severity, f.Tool, f.Call, f.Phase, f.Confidence, f.Message))
		}
	}
	return strings.Join(out, "\n")
}

func TestOwnRulesFind(t *testing.T) {
	l := worked(t)
	for _, c := range []struct{ over, when, text, want string }{
		{"effect", `effect.kind == "exec" && effect.noise == ""`, "{effect.tool} runs {effect.path} ({effect.argv}), {effect.declared.name}",
			"ORG-1 low get#1 call certain: get runs /usr/bin/curl (curl -k), get\nORG-1 low (undeclared)#3 call certain: (undeclared) runs /usr/bin/id (id), "},
		{"effect", `effect.kind == "file.write" && effect.path.below("$WORKSPACE")`, "{effect.path} {effect.explained.class}", "ORG-1 low get#1 call certain: $WORKSPACE/x "},
		{"effect", `effect.kind == "secret" && effect.rung == "read"`, "{effect.target} {effect.path}", "ORG-1 low get#1 call certain: ssh-key ~/.ssh/id_rsa"},
		{"effect", `effect.kind == "exec" && effect.declared.readOnlyHint`, "{effect.declared.urls}", "ORG-1 low get#1 call certain: url"},
		{"claim", `claim.kind == "network" && claim.where == "schema"`, "{claim.tool}: {claim.text}", "ORG-1 low get#0 list certain: get: url"},
		{"call", `call.effects.exists(e, e.kind == "exec") && has(call.arguments.limit) && call.arguments.limit == 5`, "{call.what} {call.tool} {call.outcome}", "ORG-1 low get#1 call certain: tool get ok"},
		{"call", `call.tool == "(undeclared)"`, "{call.call}", "ORG-1 low (undeclared)#3 call certain: 3"},
		{"call", `has(call.arguments.key) && !call.arguments.key.startsWith("[")`, "told", ""},
		{"finding", `finding.severity == "high" && finding.tool == "get"`, "{finding.rule}", "ORG-1 low get#1 call certain: CM101"},
	} {
		got := ofOwn(l.Judge(analyze.Options{Rules: ownRules(t, ownRule("ORG-1", "low", c.over, c.when, c.text))}))
		if strings.TrimSpace(got) != strings.TrimSpace(c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.when, got, c.want)
		}
	}
}

// What own rules find is baselined, suppressed and weighed like what ours find, and is the
// same finding in the next run.
func TestOwnFindingsAreFindings(t *testing.T) {
	set := ownRules(t, ownRule("ORG-1", "critical", "effect", `effect.kind == "exec" && effect.noise == ""`, "runs {effect.target}"))
	res := worked(t).Judge(analyze.Options{Rules: set})
	own := func(res *analyze.Result) (out []finding.Finding) {
		return slices.DeleteFunc(slices.Clone(res.Findings), func(f finding.Finding) bool { return f.Rule != "ORG-1" })
	}
	found := own(res)
	if len(found) != 2 || found[0].Fingerprint == found[1].Fingerprint || len(found[0].Evidence) == 0 || found[0].Reproduce == "" || len(res.Rules) != 1 {
		t.Fatalf("%+v %+v", found, res.Rules)
	}
	if analyze.ExitStatus(res, finding.Critical, true) != 1 {
		t.Error("it does not decide")
	}
	var b strings.Builder
	for _, f := range found {
		fmt.Fprintf(&b, "  - {fingerprint: %q, reason: known, owner: dana, expires: 2030-01-01}\n", f.Fingerprint)
	}
	p := parse(t, "suppress:\n"+b.String())
	if res := worked(t).Judge(analyze.Options{Rules: set, Policy: p}); len(own(res)) != 0 || len(res.Policy.Accepted) != 2 {
		t.Errorf("suppressed: %+v", res.Policy)
	}
	raw, err := json.Marshal(res)
	if err != nil {
		t.Fatal(err)
	}
	known, err := analyze.WriteBaseline([][]byte{raw})
	if err != nil {
		t.Fatal(err)
	}
	baseline, err := analyze.ParseBaseline("baseline.json", known)
	if err != nil {
		t.Fatal(err)
	}
	if res := worked(t).Judge(analyze.Options{Rules: set, Baseline: baseline}); len(res.Findings) != 0 {
		t.Errorf("baselined: %+v", res.Findings)
	}
}

// A rule that cannot tell leaves a gap: the run is not clean.
func TestAnOwnRuleThatFailsIsAGap(t *testing.T) {
	many := analyzetest.New(t, nil)
	many.Begin(analyzetest.Note)
	many.Call("format_note", `{}`, func() {
		for i := range 150 {
			many.Open(fmt.Sprintf("/data/%d", i), "O_RDONLY", "")
		}
	}, nil)
	many.End()
	for when, want := range map[string]string{
		`effect.argv[7] == "x"`: "the rule ORG-1 failed at the effect number 1 of ", `effect.kind == "file.read"`: "the rule ORG-1 finds more than 100 things: the rest was left out",
	} {
		res := analyzetest.Judge(t, many.Dir(), analyze.Options{Rules: ownRules(t, ownRule("ORG-1", "low", "effect", when, "found"))})
		is := slices.ContainsFunc(res.Gaps, func(g session.Gap) bool {
			return g.Code == session.GapRuleFailed && strings.HasPrefix(g.Text, want) && g.Remedy != ""
		})
		const others = 1 // CM221 tells of what nothing explains
		if !is || len(res.Findings) > 100+others || res.Verdict == analyze.Clean {
			t.Errorf("%s: %s, %d findings, %+v", when, res.Verdict, len(res.Findings), res.Gaps)
		}
	}
}

// The least policy keeps the rules, and with them the run is quiet under it.
func TestTheLeastPolicyKeepsOwnRules(t *testing.T) {
	text := "rules:\n" + ownRule("ORG-1", "high", "effect", `effect.kind == "exec" && effect.noise == "" && effect.explained.class != "policy"`, "runs") +
		ownRule("ORG-2", "high", "call", `call.tool == "get"`, "called")
	given := parse(t, text)
	compiled := func(p *policy.Policy) *custom.Set {
		set, err := custom.Compile(p, nil)
		if err != nil {
			t.Fatal(err)
		}
		return set
	}
	l := worked(t)
	res := l.Judge(analyze.Options{Policy: given, Rules: compiled(given), Least: true})
	least := parse(t, string(res.Least.Marshal()))
	if len(least.Rules) != 2 {
		t.Fatalf("%s", res.Least.Marshal())
	}
	under := analyzetest.Judge(t, l.Dir(), analyze.Options{Policy: least, Rules: compiled(least)})
	if under.AtLeast(finding.Medium) > 0 {
		t.Errorf("%+v %v\n%s", under.Findings, under.Inconclusive, res.Least.Marshal())
	}
}

// The ledger of every kept run is as its schema says.
func TestLedgersKeepTheirSchema(t *testing.T) {
	text, err := custom.LedgerSchema()
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(text)))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("https://example.org/ledger.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("https://example.org/ledger.json")
	if err != nil {
		t.Fatal(err)
	}
	names, err := filepath.Glob("../testdata/runs/*.tar.gz")
	if err != nil || len(names) < 40 {
		t.Fatalf("%d kept runs: %v", len(names), err)
	}
	var effects, claims, calls, findings int
	for i, name := range names {
		if i%scale.N(5, 1) != 0 {
			continue
		}
		dir := t.TempDir()
		analyzetest.UnpackRun(t, name, dir)
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		l := analyze.LedgerOf(t, root)
		root.Close()
		effects, claims, calls, findings = effects+len(l.Effects), claims+len(l.Claims), calls+len(l.Calls), findings+len(l.Findings)
		raw, err := json.Marshal(l)
		if err != nil {
			t.Fatal(err)
		}
		v, err := jsonschema.UnmarshalJSON(strings.NewReader(string(raw)))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", filepath.Base(name), err)
		}
		closed(t, filepath.Base(name), doc, doc, v)
	}
	if min(effects, claims, calls, findings) < 10 {
		t.Errorf("only %d effects, %d claims, %d calls and %d findings were seen", effects, claims, calls, findings)
	}
}

// closed reports members that the schema does not name.
func closed(t *testing.T, at string, root, schema, v any) {
	t.Helper()
	s, _ := schema.(map[string]any)
	if ref, ok := s["$ref"].(string); ok {
		s, _ = root.(map[string]any)["$defs"].(map[string]any)[strings.TrimPrefix(ref, "#/$defs/")].(map[string]any)
	}
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			closed(t, at, root, s["items"], e)
		}
	case map[string]any:
		properties, ok := s["properties"].(map[string]any)
		if !ok {
			return // the arguments of a call
		}
		for k, m := range v {
			if properties[k] == nil {
				t.Errorf("%s: the schema has no member %s", at, k)
				continue
			}
			closed(t, at+"/"+k, root, properties[k], m)
		}
	}
}
