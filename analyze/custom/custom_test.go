package custom

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/coalmine-dev/coalmine/analyze/policy"
)

// head is a rule up to its condition; tail is what a rule needs after it.
const head = `schema: coalmine/rules/v1
rules:
  - id: ORG-001
    name: Programs that nobody listed
    severity: high
    over: effect
`

const tail = `
    text: "“{effect.tool}” runs {effect.target} ({effect.argv}), {effect.count} times"
    help: |
      Programs are listed in the handbook.

      See there.
    references: [https://handbook.example/programs]
    tags: [programs, team/a]
    examples:
      match:
        - {kind: exec, target: /usr/bin/curl, tool: fetch, argv: [curl, x], count: 2}
      no_match:
        - {kind: exec, target: /usr/bin/git}
        - {kind: file.read, target: /usr/bin/curl}
`

const when = `    when: effect.kind == "exec" && !(effect.target in ["/usr/bin/git"])`

func compiled(t testing.TB, text string) *Set {
	t.Helper()
	s, err := Compile(nil, []File{{"rules.yaml", text}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// over makes a rule of a condition and one example of each kind.
func over(c Collection, when, match, noMatch string) string {
	return fmt.Sprintf("rules:\n  - id: ORG-001\n    name: A rule\n    severity: low\n    over: %s\n    when: %s\n    text: found\n    examples: {match: [%s], no_match: [%s]}\n", c, when, match, noMatch)
}

func TestARuleIsReadAndHolds(t *testing.T) {
	s := compiled(t, head+when+tail)
	r := s.Rules[0]
	if err := s.Failing(); err != nil {
		t.Error(err)
	}
	if r.ID != "ORG-001" || r.Severity != "high" || r.Over != Effects || r.Help != "Programs are listed in the handbook.\n\nSee there." || len(r.References) != 1 || len(r.Tags) != 2 {
		t.Errorf("%+v", r.Doc)
	}
	if doc := r.Rule(); doc.Name != "ProgramsThatNobodyListed" || doc.Title != "Programs that nobody listed" {
		t.Errorf("%+v", doc)
	}
	got, failures := s.Eval(&Ledger{Effects: []*Effect{
		{Kind: "exec", Target: "/usr/bin/git"},
		{Kind: "exec", Target: "/usr/bin/\x1b[31mcurl", Tool: "fe\u202etch", Argv: []string{"curl", strings.Repeat("x", 10_000)}, Count: 3},
	}})
	if len(failures) > 0 || len(got) != 1 || got[0].Index != 1 {
		t.Fatalf("%+v %+v", got, failures)
	}
	if want := `“fe\u{202E}tch” runs /usr/bin/\u{1B}[31mcurl (curl xxx`; !strings.HasPrefix(got[0].Text, want) || len(got[0].Text) > maxText+4 || !strings.HasSuffix(got[0].Text, ", 3 times") {
		t.Errorf("%s", got[0].Text)
	}
}

// Each collection has its members, functions and absent members.
func TestConditions(t *testing.T) {
	for _, c := range []struct {
		over           Collection
		when           string
		match, noMatch string
	}{
		{Effects, `effect.kind == "net.connect" && !effect.host.endsWith(".corp.example")`, `{kind: net.connect, host: evil.example}`, `{kind: net.connect, host: a.corp.example}`},
		{Effects, `effect.path.below("~/.ssh")`, `{path: ~/.ssh/id_rsa}`, `{path: ~/.sshd}`},
		{Effects, `effect.target.lowerAscii().matches("^/tmp/[a-z]+$")`, `{target: /TMP/Ab}`, `{target: /tmp/1}`},
		{Effects, `!has(effect.explained) && effect.explained.class == ""`, `{kind: exec}`, `{explained: {class: policy}}`},
		{Effects, `has(effect.declared.readOnlyHint) && !effect.declared.readOnlyHint`, `{declared: {readOnlyHint: false}}`, `{declared: {name: x}}`},
		{Effects, `effect.declared.claims.exists(c, c.kind == "network")`, `{declared: {claims: [{kind: network}]}}`, `{declared: {claims: [{kind: local}]}}`},
		{Effects, `effect.argv.exists(a, a == "-k") || effect.opaque`, `{argv: [curl, -k]}`, `{argv: [curl]}`},
		{Claims, `claim.kind == "shell" && claim.declared.commands.size() > 0`, `{kind: shell, declared: {commands: [cmd]}}`, `{kind: shell}`},
		{Calls, `call.effects.exists(e, e.kind == "secret") && call.effects.exists(e, e.kind == "net.connect")`, `{effects: [{kind: secret}, {kind: net.connect}]}`, `{effects: [{kind: secret}]}`},
		{Calls, `has(call.arguments.limit) && call.arguments.limit > 100`, `{arguments: {limit: 101}}`, `{arguments: {limit: 99.5}}`},
		{Calls, `has(call.arguments.a) && call.arguments.a.b[1] == true`, `{arguments: {a: {b: [x, true]}}}`, `{arguments: {}}`},
		{Calls, `call.effects == [] && call.outcome == "ok"`, `{outcome: ok}`, `{outcome: ok, effects: [{kind: exec}]}`},
		{Findings, `finding.severity in ["critical", "high"] && finding.tool.startsWith("pay_")`, `{severity: high, tool: pay_now}`, `{severity: low, tool: pay_now}`},
		{Findings, `finding.call == 1 && finding.declared == finding.declared`, `{call: 1}`, `{}`},
	} {
		s, err := Compile(nil, []File{{"r.yaml", over(c.over, "'"+c.when+"'", c.match, c.noMatch)}})
		if err == nil {
			err = s.Failing()
		}
		if err != nil {
			t.Errorf("%s: %v", c.when, err)
		}
	}
}

func TestFaultsHaveTheirPlace(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{head + `    when: effect.taget == "x"` + tail, `r.yaml:7:17: when: undefined field 'taget'`},
		{head + `    when: 'effect.kind == 1'` + tail, `r.yaml:7:24: when: found no matching overload for '_==_' applied to '(string, int)'`},
		{head + "    when: |\n      effect.kind == \"exec\" &&\n        effect.nope" + tail, `r.yaml:9:15: when: undefined field 'nope'`},
		{head + "    when: >\n      effect.kind ==\n      efect.kind" + tail, `r.yaml:7:11: when: at 1:16 of the expression: undeclared reference to 'efect'`},
		{head + "    when: effect.kind" + tail, `r.yaml:7:11: when: it gives string, and must give bool`},
		{head + "    when: 'effect.kind =='" + tail, `r.yaml:7:26: when: Syntax error: mismatched input '<EOF>'`},
		{head + "    when: effect.target.matches(effect.host)" + tail, `when: the pattern of matches must be written out`},
		{head + `    when: effect.target.matches("(")` + tail, `when: invalid matches argument`},
		{head + `    when: 'effect.target.matches("(a{500}){500}")'` + tail, `when: invalid matches argument`},
		{head + `    when: 'coalmine.Effect{kind: "x"} == effect'` + tail, `when: an expression makes no objects`},
		{head + `    when: 'timestamp("2020-01-01T00:00:00Z").getFullYear() == 2020'` + tail, `undeclared reference to 'timestamp'`},
		{head + `    when: '[1].all(a, [1].all(b, [1].all(c, true)))'` + tail, `comprehension exceeds nesting limit`},
		{head + `    when: ` + strings.Repeat("(", 100) + "true" + strings.Repeat(")", 100) + tail, `expression recursion limit exceeded`},
		{head + when + strings.Replace(tail, "{effect.tool}", "{effect.tol}", 1), "r.yaml:8:14: text: {effect.tol}: undefined field 'tol'"},
		{head + when + strings.Replace(tail, "{effect.tool}", "{effect.explained}", 1), "text: {effect.explained}: it is coalmine.Explanation"},
		{head + when + strings.Replace(tail, "{effect.tool}", "{effect.tool + 'x'}", 1), "it is not a member such as effect.tool"},
		{head + when + strings.Replace(tail, "{effect.tool}", "{", 1), "text: a brace stands alone"},
		{head + when + strings.Replace(tail, "no_match:", "nomatch:", 1), `examples: "nomatch" is not one of match, no_match`},
		{strings.Split(head+when+tail, "    examples:")[0], "r.yaml:3:5: the rule has no examples"},
		{strings.Split(head+when+tail, "      no_match:")[0], "the rule has no example no_match: nobody knows then that it is ever silent"},
		{strings.Replace(head+when+tail, "match:\n        - {kind: exec, target: /usr/bin/curl, tool: fetch, argv: [curl, x], count: 2}", "match: []", 1), "the rule has no example match: nobody knows then that it ever speaks"},
		{head + when + strings.Replace(tail, "kind: file.read", "kind: file.raed", 1), `r.yaml:20:18: examples, no_match, kind: "file.raed" is not one of file.read`},
		{head + when + strings.Replace(tail, "kind: file.read", "kid: x", 1), `examples, no_match: "kid" is not one of kind, target`},
		{head + when + strings.Replace(tail, "count: 2", "count: two", 1), `examples, match, count must be a whole number`},
		{head + when + strings.Replace(tail, "argv: [curl, x]", "argv: curl", 1), `examples, match, argv must be a list`},
		{strings.Replace(head, "ORG-001", "CM101", 1) + when + tail, `r.yaml:3:9: id "CM101" does not look like ORG-001`},
		{strings.Replace(head, "ORG-001", "CM-101", 1) + when + tail, `id "CM-101": the prefix is coalmine's own`},
		{strings.Replace(head, "high", "info", 1) + when + tail, `severity must be critical, high, medium or low`},
		{strings.Replace(head, "over: effect", "over: effects", 1) + when + tail, `over must be effect, claim, call or finding`},
		{strings.Replace(head, "Programs that nobody listed", `"a\x1bb"`, 1) + when + tail, `name holds a control or hidden character`},
		{head + when + strings.Replace(tail, "https://handbook.example/programs", "javascript:alert(1)", 1), `must be an address`},
		{head + when + strings.Replace(tail, "team/a", "Team", 1), `tags: "Team" must be of`},
		{head + when + tail + strings.TrimPrefix(head, "schema: coalmine/rules/v1\nrules:\n") + when + tail, `r.yaml:21:9: id "ORG-001" is that of the rule at r.yaml:3:5 too`},
		{"rules: &a [*a]", "aliases and merges are not read here"},
		{"rules: !!python/object x", "the tag"},
		{"rule: []", `r.yaml:1:1: the file of rules: "rule" is not one of schema, rules`},
		{"schema: coalmine/rules/v2", `r.yaml:1:9: schema "coalmine/rules/v2" is not coalmine/rules/v1`},
	} {
		s, err := Compile(nil, []File{{"r.yaml", c.in}})
		if err == nil || s != nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got  %v\nwant %s", err, c.want)
		}
	}
}

func TestRulesOfAPolicy(t *testing.T) {
	text := "server: {allow: {hosts: []}}\n" + strings.TrimPrefix(head, "schema: coalmine/rules/v1\n") + when + tail + "  - own/more.yaml\n"
	p, err := policy.Parse("coalmine.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	if files := p.RuleFiles(); len(files) != 1 || files[0].Text != "own/more.yaml" {
		t.Errorf("%+v", files)
	}
	s, err := Compile(p, []File{{"own/more.yaml", over(Calls, "call.call == 1", "{call: 1}", "{call: 2}")}})
	if err == nil || !strings.Contains(err.Error(), `own/more.yaml:2:9: id "ORG-001" is that of the rule at coalmine.yaml:3:5 too`) {
		t.Errorf("%v, %v", s, err)
	}
	if s, err = Compile(p, nil); err != nil || len(s.Rules) != 1 || s.Failing() != nil {
		t.Errorf("%v, %v", s, err)
	}
	// Written and read again, they are the same rules.
	again, err := policy.Parse("again.yaml", p.Marshal())
	if err != nil {
		t.Fatalf("%v\n%s", err, p.Marshal())
	}
	if s, err = Compile(again, nil); err != nil || len(s.Rules) != 1 || s.Rules[0].Help != "Programs are listed in the handbook.\n\nSee there." {
		t.Errorf("%v\n%s", err, p.Marshal())
	}
	if files := again.RuleFiles(); len(files) != 1 {
		t.Errorf("%+v", files)
	}
	if s, err = Compile(nil, []File{{"empty.yaml", ""}}); s != nil || err != nil {
		t.Errorf("no rules are %v, %v", s, err)
	}
}

func TestExamplesAreHeldAgainstTheRule(t *testing.T) {
	s := compiled(t, over(Calls, "call.arguments.n > 1.0", "{arguments: {n: 2}}, {arguments: {n: 1}}", "{arguments: {n: 3}}, {arguments: {m: 3}}"))
	err := s.Failing()
	want := `rules.yaml:8:45: ORG-001: the rule does not speak of this example of match
rules.yaml:8:78: ORG-001: the rule speaks of this example of no_match
rules.yaml:8:99: ORG-001: the rule fails at this example: no such key`
	if err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// A rule that fails, costs too much or speaks too often says so, and stops.
func TestFailuresAreTold(t *testing.T) {
	var calls []*Call
	for i := range 2 * MaxMatches {
		calls = append(calls, &Call{Call: i + 1, Arguments: map[string]any{"text": strings.Repeat("a", 4000)}})
	}
	long := `size([0,1,2,3,4,5,6,7,8,9].map(a, [0,1,2,3,4,5,6,7,8,9].map(b, string(call.arguments.text) + string(call.arguments.text)))) == 10`
	for when, want := range map[string]string{
		"call.arguments.secret == 1":     "failed at the call number 1 of 2000: no such key",
		"call.call / (call.call-3) == 9": "failed at the call number 3 of 2000: division by zero",
		"call.arguments.text":            "",
		"call.call > 0":                  "speaks of more than 1000 entries: the rest was left out",
		"'" + long + " && " + long + "'": "costs too much",
	} {
		s, err := Compile(nil, []File{{"r.yaml", over(Calls, when, "{}", "{}")}})
		if want == "" {
			if err == nil {
				t.Errorf("%s is taken", when)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got, failures := s.Eval(&Ledger{Calls: calls})
		if len(failures) != 1 || !strings.Contains(failures[0].Why, want) || len(got) > MaxMatches {
			t.Errorf("%s: %d matches, %+v", when, len(got), failures)
		}
	}
}

// The dearest rules that compile are stopped before the end of a long list.
func TestTheCostIsBounded(t *testing.T) {
	var effects []*Effect
	for range 5_000 {
		effects = append(effects, &Effect{Target: strings.Repeat("a", 4000)})
	}
	loop := "[" + strings.TrimSuffix(strings.Repeat("0,", 100), ",") + "].all(b, %s) && effect.count == 1"
	for _, when := range []string{
		`effect.target.matches("^(a|aa|aaa)*b$") || effect.target.contains("` + strings.Repeat("a", 100) + `b")`,
		fmt.Sprintf(loop, "size(effect.target) > 0"), fmt.Sprintf(loop, "effect.target.size() > 0"), fmt.Sprintf(loop, `effect.target.lowerAscii() != ""`), fmt.Sprintf(loop, `!effect.target.below("/b")`),
	} {
		s := compiled(t, over(Effects, "'"+when+"'", "{target: b}", "{}"))
		_, failures := s.Eval(&Ledger{Effects: effects})
		if len(failures) != 1 || !strings.Contains(failures[0].Why, "costs too much") {
			t.Errorf("%.80s: %+v", when, failures)
		}
	}
}

// Whatever the rules and entries hold, nothing panics, and all texts are bounded.
func TestTextsAreBounded(t *testing.T) {
	s := compiled(t, strings.ReplaceAll(over(Effects, "true", "{}", "{}"), "found", `"{effect.tool}{effect.target}{effect.argv}{effect.host}{effect.call}{effect.opaque}"`))
	rapid.Check(t, func(rt *rapid.T) {
		word := rapid.OneOf(rapid.String(), rapid.Map(rapid.StringN(0, 3, 9), func(s string) string { return strings.Repeat(s, 3000) }))
		e := &Effect{Tool: word.Draw(rt, "tool"), Target: word.Draw(rt, "target"), Argv: rapid.SliceOfN(word, 0, 4).Draw(rt, "argv"), Host: word.Draw(rt, "host")}
		got, failures := s.Eval(&Ledger{Effects: []*Effect{e}})
		if len(got) != 1 || len(failures) > 0 || len(got[0].Text) > maxText+4 || strings.ContainsAny(got[0].Text, "\n\x1b\u202e") {
			rt.Fatalf("%+v %+v", got, failures)
		}
	})
}

func FuzzCompile(f *testing.F) {
	f.Add(head + when + tail)
	f.Add(over(Calls, "call.arguments.n > 1", "{arguments: {n: 2}}", "{}"))
	f.Add("rules: [{id: [")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Compile(nil, []File{{"r.yaml", text}})
		if s != nil && err != nil {
			t.Fatal("a set and an error")
		}
		for _, tested := range s.Test() {
			if tested.Match == 0 || tested.NoMatch == 0 {
				t.Fatalf("%+v has no example", tested.Rule.Doc)
			}
		}
		_, _ = s.Eval(sample())
	})
}

func FuzzExpression(f *testing.F) {
	for _, e := range []string{`effect.kind == "exec"`, `effect.argv.map(a, a + a).exists(a, a.matches("x"))`, `has(effect.declared.readOnlyHint) ? 1 == 1 : 2 / 0 == 1`, "[1].all(x, x", `effect.declared.claims[0].declared == effect.declared`} {
		f.Add(e)
	}
	f.Fuzz(func(t *testing.T, expression string) {
		if len(expression) > maxExpression {
			return
		}
		quoted, err := json.Marshal(expression)
		if err != nil {
			return
		}
		s, err := Compile(nil, []File{{"r.yaml", over(Effects, string(quoted), "{}", "{kind: exec}")}})
		if err != nil {
			return
		}
		matches, failures := s.Eval(sample())
		again, more := s.Eval(sample())
		if fmt.Sprint(len(matches), failures) != fmt.Sprint(len(again), more) {
			t.Fatalf("%s: %v, then %v", expression, failures, more)
		}
	})
}

// sample has an entry of each kind.
func sample() *Ledger {
	yes := true
	tool := &Tool{Name: "t", ReadOnlyHint: &yes, Claims: []*Claim{{Kind: "local", Text: "offline"}}}
	e := &Effect{Kind: "exec", Target: "/usr/bin/curl", Argv: []string{"curl"}, Declared: tool}
	return &Ledger{
		Effects: []*Effect{e, {}}, Claims: []*Claim{{Kind: "shell", Declared: tool}},
		Calls: []*Call{{Call: 1, Arguments: map[string]any{"n": 2.0, "l": []any{nil, "x", map[string]any{}}}, Effects: []*Effect{e}}}, Findings: []*Finding{{Severity: "high"}},
	}
}
