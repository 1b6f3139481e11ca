package analyze_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// behaviours are what a tool does in its call.
var behaviours = map[string]func(*analyzetest.Log){
	"nothing": func(*analyzetest.Log) {},
	"write":   func(l *analyzetest.Log) { l.Open("/var/lib/app/x", "O_WRONLY|O_CREAT", "") },
	"delete": func(l *analyzetest.Log) {
		l.Record(trace.Record{Op: trace.OpUnlink, Call: "unlinkat", Path: "/home/dana/notes.txt"})
	},
	"egress": func(l *analyzetest.Log) { l.Connect("93.184.216.34", 80, "ENETUNREACH") },
}

// truth says, for an annotation of a tool that declares nothing else and what it
// does, which rules speak and how loudly. What is not in it is quiet. The
// specification's defaults (readOnly false, destructive true, openWorld true) tell a
// client what to expect; an absent hint is no declaration that could be broken.
var truth = map[string]string{
	"none/delete": "medium CM203", "none/egress": "low CM209",

	"readOnlyHint=true/write": "medium CM201", "readOnlyHint=true/delete": "high CM203, medium CM201", "readOnlyHint=true/egress": "low CM209",
	"readOnlyHint=false/delete": "medium CM203", "readOnlyHint=false/egress": "low CM209",

	"destructiveHint=true/egress":  "low CM209",
	"destructiveHint=false/delete": "high CM203", "destructiveHint=false/egress": "low CM209",

	"idempotentHint=true/delete": "medium CM203", "idempotentHint=true/egress": "low CM209",
	"idempotentHint=false/delete": "medium CM203", "idempotentHint=false/egress": "low CM209",

	"openWorldHint=true/delete":  "medium CM203",
	"openWorldHint=false/delete": "medium CM203", "openWorldHint=false/egress": "high CM202",

	// Where a tool only reads, the specification gives the other hint no meaning.
	"readOnlyHint=true destructiveHint=true/write": "medium CM201", "readOnlyHint=true destructiveHint=true/delete": "high CM203, medium CM201", "readOnlyHint=true destructiveHint=true/egress": "low CM209",
}

func TestTheTruthTableOfAnnotations(t *testing.T) {
	annotations := []string{"none", "readOnlyHint=true destructiveHint=true"}
	for _, hint := range []string{"readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint"} {
		annotations = append(annotations, hint+"=true", hint+"=false")
	}
	for _, a := range annotations {
		for name, does := range behaviours {
			t.Run(a+"/"+name, func(t *testing.T) {
				var members []string
				for _, hint := range strings.Fields(strings.TrimPrefix(a, "none")) {
					key, value, _ := strings.Cut(hint, "=")
					members = append(members, fmt.Sprintf("%q:%s", key, value))
				}
				l := analyzetest.New(t, nil)
				l.Begin(`{"name":"do","description":"Does it.","annotations":{` + strings.Join(members, ",") + `}}`)
				l.Call("do", `{}`, func() { does(l) }, nil)
				l.End()
				var got []string
				for _, f := range l.Judge(analyze.Options{}).Findings {
					got = append(got, string(f.Severity)+" "+f.Rule)
				}
				slices.Sort(got)
				if said := strings.Join(got, ", "); said != truth[a+"/"+name] {
					t.Errorf("said %q, want %q", said, truth[a+"/"+name])
				}
			})
		}
	}
}

// Null is how serialisers write an absent hint.
func TestANullHintIsAbsent(t *testing.T) {
	l := analyzetest.New(t, nil)
	l.Begin(`{"name":"do","description":"Does it.","annotations":{"readOnlyHint":null,"openWorldHint":null}}`)
	l.Call("do", `{}`, func() { behaviours["write"](l) }, nil)
	l.End()
	if fs := l.Judge(analyze.Options{}).Findings; len(fs) > 0 {
		t.Errorf("%+v", fs)
	}
}
