package synth

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// A refusal that lists what it would have taken corrects the argument that it
// names or quotes, and no other.
func TestDemands(t *testing.T) {
	d := &driver{cfg: Config{Surface: &wire.Surface{}, Hints: schema.Hints{Dictionary: &schema.Dictionary{}}}}
	for _, c := range []struct{ args, refusal, want string }{
		{`{"from":"a short note","value":9}`, "Unknown unit: a short note. Supported units: m, km, cm", `{"from":"m","value":9}`},
		{`{"kind":"x","note":"y z"}`, "Invalid kind: x. Must be Text or Blob.", `{"kind":"Text","note":"y z"}`},
		{`{"path":"x y"}`, "Path 'x y' must be absolute, e.g. 'C:\\Reports\\q1.xlsx' or '/home/me/q1.xlsx'.", ``},
		{`{"sheet":"Sheet1","name":"alpha"}`, "Sheet 'Sheet1' not found. Available sheets: 'notes-new', 'draft', 'notes'.", `{"name":"alpha","sheet":"notes-new"}`},
		{`{"size":"x y"}`, "size must be positive", ``},
		{`{"kind":"x"}`, "kind must be one of 'm n', 'c'", `{"kind":"m n"}`},
		{`{"a":"b c"}`, "no such thing. Supported units: m, km", ``},
	} {
		l := learner{d: d, left: maxLearned}
		if got := string(l.demands(json.RawMessage(c.args), c.refusal)); got != c.want {
			t.Errorf("%s\n%s\nwant %q", c.refusal, got, c.want)
		}
	}
}

// A list of commits says what an id is, short as its names are.
func TestCommitsAreLearned(t *testing.T) {
	for _, text := range []string{"2d89bc0  2026-11-29 07:34  checkpoint", "* 2d89bc0 Add the list of items\n"} {
		d := &driver{cfg: Config{Surface: &wire.Surface{}, Hints: schema.Hints{Dictionary: &schema.Dictionary{}}}}
		l := learner{d: d, left: maxLearned}
		l.prose(text)
		g, err := schema.New(json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"}},"required":["id"]}`), schema.Options{Tool: "restore", Hints: d.cfg.Hints, Object: true})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := g.Draw(1, schema.Learned); err != nil || string(got) != `{"id":"2d89bc0"}` {
			t.Errorf("%s: %s %v", text, got, err)
		}
	}
}

// What an answer lists under its id is what an argument of the thing's name takes,
// and a base that knows it goes before an earlier one with longer words.
func TestIDsAreLearnedForTheirThings(t *testing.T) {
	d := &driver{cfg: Config{Surface: &wire.Surface{}, Hints: schema.Hints{Dictionary: &schema.Dictionary{}}}}
	l := learner{d: d, left: maxLearned}
	if !l.document(json.RawMessage(`{"devices":[{"id":"emulator-5554","name":"Pixel 8"}],"owner":{"name":"dana"}}`)) {
		t.Fatal("no document")
	}
	for name, want := range map[string]string{"device": "emulator-5554", "deviceName": "Pixel 8"} {
		g, err := schema.New(json.RawMessage(`{"type":"object","properties":{"`+name+`":{"type":"string"}},"required":["`+name+`"]}`), schema.Options{Tool: "lookup", Hints: d.cfg.Hints, Object: true})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := g.Draw(1, schema.Learned); err != nil || string(got) != `{"`+name+`":"`+want+`"}` {
			t.Errorf("%s: %s %v", name, got, err)
		}
	}
	l.things = "machines"
	l.prose("10240512  Autumn  started  fra\n10240513  Winter  stopped  ams\n")
	l.things = ""
	if g, err := schema.New(json.RawMessage(`{"type":"object","properties":{"machine":{"type":"string"}},"required":["machine"]}`), schema.Options{Tool: "stop", Hints: d.cfg.Hints, Object: true}); err != nil {
		t.Fatal(err)
	} else if got, err := g.Draw(1, schema.Learned); err != nil || string(got) != `{"machine":"10240512"}` && string(got) != `{"machine":"10240513"}` {
		t.Errorf("a column of a table: %s %v", got, err)
	}
	l.things = "databases"
	l.prose("data/stock.db  12 KiB\n")
	l.things = ""
	if g, err := schema.New(json.RawMessage(`{"type":"object","properties":{"database":{"type":"string"}},"required":["database"]}`), schema.Options{Tool: "describe", Hints: d.cfg.Hints, Object: true}); err != nil {
		t.Fatal(err)
	} else if got, err := g.Draw(1, schema.Learned); err != nil || string(got) != `{"database":"data/stock.db"}` {
		t.Errorf("a file in a table: %s %v", got, err)
	}
	l.prose("Process started with PID 54 (shell: sh)\nStarted file search session: search_1_99\nid: 5ae88ae3-fcc5-4585-9cd7-4efad13bab59\nUser: Dana\n")
	for declared, want := range map[string]string{`"pid":{"type":"integer"}`: `{"pid":54}`, `"sessionId":{"type":"string"}`: `{"sessionId":"search_1_99"}`, `"userId":{"type":"string"}`: `{"userId":"5ae88ae3-fcc5-4585-9cd7-4efad13bab59"}`} {
		name, _, _ := strings.Cut(declared, ":")
		g, err := schema.New(json.RawMessage(`{"type":"object","properties":{`+declared+`},"required":[`+name+`]}`), schema.Options{Tool: "read", Hints: d.cfg.Hints, Object: true})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := g.Draw(1, schema.Learned); err != nil || string(got) != want {
			t.Errorf("%s: %s %v", declared, got, err)
		}
	}
	to := &target{}
	for _, c := range []struct{ class, args, want string }{
		{"typical", `{"device":"a long sentence that names nobody"}`, `{"device":"a long sentence that names nobody"}`},
		{"typical", `{"device":"emulator-5554"}`, `{"device":"emulator-5554"}`},
		{"typical", `{}`, `{"device":"emulator-5554"}`},
		{"sourced", `{"device":"POST","to":"GET"}`, `{"device":"emulator-5554"}`},
		{"valid", `{"device":"x","to":"y"}`, `{"device":"emulator-5554"}`},
		{"typical-full", `{"device":"emulator-5554","to":"a"}`, `{"device":"emulator-5554","to":"a"}`},
	} {
		d.count(to, Call{Class: c.class, Args: json.RawMessage(c.args)}, OK, OK)
		if string(to.base) != c.want {
			t.Errorf("after %s %s the base is %s", c.class, c.args, to.base)
		}
	}
}

// A thing without an id is asked for by its name, also where it stands under no name of its own.
func TestThingsAreKnownByTheirNames(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tool, answer, argument, want string }{
		{"register_project_tool", `{"name":"river","root_path":"data"}`, "project", "river"},
		{"register_project_tool", `{"name":"river","root_path":"data"}`, "projectName", "river"},
		{"listProjectsTool", `{"result":[{"name":"river","languages":{"python":3}}]}`, "project", "river"},
		{"list_boards", `{"boards":[{"key":"RIV","title":"River"}]}`, "board", "RIV"},
		{"list_boards", `{"boards":[{"id":"b-17","name":"River"}]}`, "board", "b-17"},
		{"list_boards", `{"boards":[{"id":"b-17","name":"River"}]}`, "board_name", "River"},
	} {
		d := &driver{cfg: Config{Surface: &wire.Surface{}, Hints: schema.Hints{Dictionary: &schema.Dictionary{}}}}
		raw, err := json.Marshal(map[string]any{"content": []map[string]string{{"type": "text", "text": c.answer}}})
		if err != nil {
			t.Fatal(err)
		}
		d.learn(&target{what: WhatTool, name: c.tool}, Call{Class: schema.Typical.String(), Args: json.RawMessage(`{}`)}, OK, client.Result{Raw: raw})
		g, err := schema.New(json.RawMessage(`{"type":"object","properties":{"`+c.argument+`":{"type":"string"}},"required":["`+c.argument+`"]}`), schema.Options{Tool: "show", Hints: d.cfg.Hints, Object: true})
		if err != nil {
			t.Fatal(err)
		}
		if got, err := g.Draw(1, schema.Learned); err != nil || string(got) != `{"`+c.argument+`":"`+c.want+`"}` {
			t.Errorf("%s after %s: %s %v", c.argument, c.tool, got, err)
		}
	}
}

// A value that a refusal does not know is not learned again from whoever repeats it, and what is known comes to be given.
func TestUnknownValuesAreForgotten(t *testing.T) {
	t.Parallel()
	f := newFake(wire.Tool{})
	id := `{"type":"object","properties":{"jobId":{"type":"string"}},"required":["jobId"]}`
	f.surface.Tools = []wire.Tool{tool("start_job", `{"type":"object"}`), tool("read_job", id), tool("history", `{"type":"object"}`)}
	last := ""
	f.tool = func(name string, raw json.RawMessage) (client.Result, error) {
		switch name {
		case "start_job":
			return success("Started job: run_7_2041"), nil
		case "history":
			return success(last), nil
		}
		var args struct{ JobID string }
		if json.Unmarshal(raw, &args) == nil && args.JobID == "run_7_2041" {
			return success("done"), nil
		}
		last = "Unknown job: " + args.JobID
		return refusal("Job " + args.JobID + " not found"), nil
	}
	r := drive(t, f, Config{Calls: 4})
	if r.Tools[1].OK == 0 {
		t.Errorf("the job was never read: %q", f.log)
	}
}

// A refusal has forgotten what it says is not there, and neither where it looked nor what it offers.
func TestForgetsOnlyWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		args, refusal string
		want          []string
	}{
		{`{"file":"report.xlsx","sheet":"Ledger"}`, "Sheet 'Ledger' not found in report.xlsx", []string{"Ledger"}},
		{`{"filename":"report.xlsx","name":"Ledger"}`, "report.xlsx: no such sheet: Ledger", []string{"Ledger"}},
		{`{"filename":"report.xlsx","name":"Ledger"}`, "Error in report.xlsx: Ledger does not exist", []string{"Ledger"}},
		{`{"filename":"report.xlsx","name":"Ledger"}`, "report.xlsx: sheet not found: Ledger", []string{"Ledger"}},
		{`{"filename":"report.xlsx","name":"Ledger"}`, "No sheet Ledger found in the workbook report.xlsx", []string{"Ledger"}},
		{`{"filename":"report.xlsx","name":"Ledger"}`, "Sheet not found in report.xlsx", nil},
		{`{"project":"demo","job":"run_9"}`, "Job run_9 of project 'demo' not found.", []string{"run_9"}},
		{`{"user":"dana","owner":"alex"}`, "Unknown user. Available users: alex, kim", nil},
		{`{"user":"dana","owner":"alex"}`, "User dana not found. Available users: alex, kim", []string{"dana"}},
		{`{"from":"stone","to":"kg"}`, "Unknown unit: stone. Supported units: g, kg", []string{"stone"}},
		{`{"pid":54}`, "PID 54 not found", []string{"54"}},
		{`{"items":[{"id":"run-7"},{"id":"7"}]}`, "no such item: RUN-7", []string{"run-7"}},
		{`{"path":"notes.txt"}`, "notes.txt: No such file or directory", []string{"notes.txt"}},
		{`{"path":"/w/notes.txt"}`, "/w/notes.txt not found", nil},
		{`{"kind":"job"}`, "no job found", nil},
		{`{"a":"x","b":"y"}`, "Wrote x. The item y does not exist", []string{"y"}},
		{`{"a":"` + strings.Repeat("x", 5000) + `"}`, "not found: x", nil},
	} {
		d := &driver{cfg: Config{Surface: &wire.Surface{}, Hints: schema.Hints{Dictionary: &schema.Dictionary{}}}}
		l := learner{d: d, left: maxLearned}
		l.forget(json.RawMessage(c.args), c.refusal)
		if got := slices.Sorted(maps.Keys(d.unknown)); !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %q is forgotten, want %q", c.args, c.refusal, got, c.want)
		}
	}
}

// A word of a text is no part of a longer one, in whatever case.
func TestWordIn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text, name string
		want       bool
	}{
		{"Missing Title.", "title", true}, {"subtitle, title", "title", true}, {"subtitles", "title", false}, {"title_2", "title", false},
		{"“x”", "x", true}, {"a.b", "a.b", true}, {"aab", "a.b", false}, {"x", "", false}, {"x", "xx", false},
	} {
		if got := wordIn(c.text, c.name); got != c.want {
			t.Errorf("%q in %q: %v", c.name, c.text, got)
		}
	}
}
