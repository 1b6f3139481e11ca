package synth

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// The workbook is a ZIP of well-formed XML, and the same in every run.
func TestWorkbook(t *testing.T) {
	data, err := workbook([]string{"window", "bench"}, []int{4, 2})
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := workbook([]string{"window", "bench"}, []int{4, 2}); !bytes.Equal(data, again) {
		t.Error("two workbooks differ")
	}
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || len(z.File) != 7 {
		t.Fatalf("%v", err)
	}
	if sheet, err := fs.ReadFile(z, "xl/worksheets/sheet1.xml"); err != nil || !bytes.Contains(sheet, []byte("<sheetView ")) || !bytes.Contains(sheet, []byte("<v>4</v>")) {
		t.Errorf("the sheet lacks what libraries take for granted: %s %v", sheet, err)
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(r); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
		}
	}
}

// A tool that refuses a file for what it is gets one of another type, each once.
func TestOtherKind(t *testing.T) {
	d := &driver{cfg: Config{Surface: &wire.Surface{}, Hints: schema.Hints{Files: []string{"/w/notes.txt", "/w/todo.md", "/w/count.py"}, Documents: []string{"/w/items.xlsx"}}}}
	for _, c := range []struct{ says, args, refusal, want string }{
		{"", `{"depth":2,"path":"/w/notes.txt"}`, "Could not detect language for /w/notes.txt", `{"depth":2,"path":"/w/count.py"}`},
		{"Lists the symbols of a file.", `{"path":"/w/notes.txt"}`, "Unsupported file", `{"path":"/w/count.py"}`},
		{"", `{"path":"/w/notes.txt"}`, "Unsupported file", `{"path":"/w/todo.md"}`},
		{"", `{"path":"/w/other.txt"}`, "Unsupported file", ``},
		{"", `{"path":"/w/notes.txt"}`, "permission denied", ``},
	} {
		tool := &target{what: WhatTool, decl: wire.Tool{Description: c.says}}
		if got := string(d.otherKind(tool, json.RawMessage(c.args), c.refusal)); got != c.want {
			t.Errorf("%s %s: %s, not %s", c.args, c.refusal, got, c.want)
		}
	}
}

// A refusal that says what a path should end in corrects the path, within what was planted.
func TestExtensionsThatAreAskedFor(t *testing.T) {
	d := &driver{cfg: Config{Surface: &wire.Surface{}, Hints: schema.Hints{
		Dirs: []string{"/w"}, Files: []string{"/w/notes.txt", "/w/old.txt"}, Documents: []string{"/w/items.xlsx"}, Dictionary: &schema.Dictionary{},
	}}}
	for _, c := range []struct{ args, refusal, want string }{
		{`{"path":"/w/notes.txt"}`, "Path '/w/notes.txt' must point to an Excel file (.xlsm, .xlsx).", `{"path":"/w/items.xlsx"}`},
		{`{"path":"/w/draft.txt","n":1}`, "Path '/w/draft.txt' must point to an Excel file (.xlsm, .xlsx).", `{"n":1,"path":"/w/draft.xlsx"}`},
		{`{"path":"/w/draft.txt"}`, "/w/draft.txt: only .stl and .obj are supported", `{"path":"/w/draft.stl"}`},
		{`{"path":"/etc/x.txt"}`, "/etc/x.txt: only .stl is supported", ``},
		{`{"path":"/w/notes.txt"}`, "/w/notes.txt: permission denied", ``},
		{`{"path":"/w/items.xlsx"}`, "/w/items.xlsx is no .xlsx file", ``},
	} {
		l := learner{d: d, left: maxLearned}
		if got := string(l.ofExtension(json.RawMessage(c.args), c.refusal)); got != c.want {
			t.Errorf("%s\n%s\nwant %q", c.refusal, got, c.want)
		}
	}
}

// A number that a refusal states of a thing is what an argument of that thing takes.
func TestStated(t *testing.T) {
	t.Parallel()
	l := learner{d: &driver{}}
	for _, c := range []struct{ args, text, want string }{
		{`{"expected_version":5}`, "CONFLICT: Review changes before deleting current_version=2", `{"expected_version":2}`},
		{`{"expected_version":2}`, "current_version=2", ``},
		{`{"expected_version":"5"}`, "current_version=2", ``},
		{`{"page":5}`, "lastPage: 3", `{"page":3}`},
		{`{"limit":5}`, "code: 404", ``},
	} {
		if got := string(l.stated(json.RawMessage(c.args), c.text)); got != c.want {
			t.Errorf("%s: %s: %s", c.args, c.text, got)
		}
	}
}
