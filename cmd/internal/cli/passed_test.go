package cli

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/scale"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
	"github.com/coalmine-dev/coalmine/synth"
)

// spelled is a value in one spelling, between other text, and what of it must not be found.
type spelled struct{ name, text, core string }

// spellings write a value in all the ways that are promised to be told.
func spellings(value string) []spelled {
	each := func(format string) string {
		var b strings.Builder
		for i := range len(value) {
			fmt.Fprintf(&b, format, value[i])
		}
		return b.String()
	}
	reverse := func(s string) string {
		b := []byte(s)
		slices.Reverse(b)
		return string(b)
	}
	utf16of := func(order func(uint16) []byte) string {
		var b []byte
		for _, u := range utf16.Encode([]rune(value)) {
			b = append(b, order(u)...)
		}
		return string(b)
	}
	quoted, _ := json.Marshal(value) // a string always has a JSON form
	out := []spelled{
		{"raw", value, value},
		{"reversed", reverse(value), reverse(value)},
		{"hex", hex.EncodeToString([]byte(value)), hex.EncodeToString([]byte(value))},
		{"HEX", strings.ToUpper(hex.EncodeToString([]byte(value))), strings.ToUpper(hex.EncodeToString([]byte(value)))},
		{"percent", each("%%%02x"), each("%%%02x")},
		{"twice percent", each("%%25%02X"), each("%%25%02X")},
		{"form", url.QueryEscape(value), url.QueryEscape(value)},
		{"JSON", strings.Trim(string(quoted), `"`), strings.Trim(string(quoted), `"`)},
		{"\\u", each(`\u%04x`), each(`\u%04x`)},
		{"HTML", html.EscapeString(value), html.EscapeString(value)},
		{"references", each("&#x%x;"), each("&#x%x;")},
		{"quoted-printable", each("=%02X"), each("=%02X")},
		{"UTF-16LE", utf16of(func(u uint16) []byte { return []byte{byte(u), byte(u >> 8)} }), utf16of(func(u uint16) []byte { return []byte{byte(u), byte(u >> 8)} })},
		{"UTF-16BE", utf16of(func(u uint16) []byte { return []byte{byte(u >> 8), byte(u)} }), utf16of(func(u uint16) []byte { return []byte{byte(u >> 8), byte(u)} })},
	}
	for n := range 3 {
		for name, enc := range map[string]*base64.Encoding{"base64": base64.StdEncoding, "base64url": base64.RawURLEncoding} {
			text := enc.EncodeToString([]byte("key"[:n] + value + "end"))
			core := text[(n*8+5)/6 : (n+len(value))*8/6]
			out = append(out, spelled{fmt.Sprintf("%s at %d", name, n), text, core}, spelled{fmt.Sprintf("%s at %d reversed", name, n), reverse(text), reverse(core)})
			if len(text) > 40 {
				out = append(out, spelled{fmt.Sprintf("%s at %d wrapped", name, n), text[:30] + "\r\n" + text[30:], core[5:20]})
			}
		}
	}
	for n := range 5 {
		text := base32.StdEncoding.EncodeToString([]byte("keys!"[:n] + value + "end"))
		out = append(out, spelled{fmt.Sprintf("base32 at %d", n), text, text[(n*8+4)/5 : (n+len(value))*8/5]})
	}
	return out
}

// fill sets all texts that v holds and that are no words of the log's own: those
// have types of their own.
func fill(v reflect.Value, text string, depth int) {
	if depth == 0 {
		return // a type may hold itself
	}
	switch v.Kind() {
	case reflect.String:
		if v.Type().PkgPath() == "" && v.CanSet() {
			v.SetString("x " + text + " y")
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), text, depth-1)
	case reflect.Slice:
		if v.Type() == reflect.TypeFor[json.RawMessage]() {
			data, _ := json.Marshal("x " + text + " y") // a string always has a JSON form
			v.SetBytes(data)
			return
		}
		if v.Type() == reflect.TypeFor[[]byte]() {
			v.SetBytes([]byte("x " + text + " y\xff"))
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), text, depth-1)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, text, depth-1)
		fill(value, text, depth-1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[netip.AddrPort]() || v.Type() == reflect.TypeFor[netip.Addr]() {
			return
		}
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), text, depth-1)
			}
		}
	}
}

// filled is a value of a type with the text wherever one fits.
func filled[T any](text string) T {
	var out T
	fill(reflect.ValueOf(&out).Elem(), text, 12)
	return out
}

// events are all events of the agent with the text wherever one fits.
func events(text string) []session.Body {
	return []session.Body{
		filled[session.EventAccess](text), filled[session.EventFound](text), filled[session.EventExit](text), filled[session.EventTracerDied](text),
		filled[session.EventLoss](text), filled[session.EventLimit](text), filled[session.EventError](text), filled[session.EventNote](text),
		filled[session.EventFull](text), filled[session.EventFile](text), filled[session.EventEOF](text),
		filled[session.EventChanged](text), filled[session.EventText](text), filled[session.EventCompared](text), filled[session.EventLastWrite](text),
	}
}

// plant writes a run whose server says a text in all that it has a say in.
func plant(t *testing.T, l *analyzetest.Log, texts []spelled) {
	t.Helper()
	quote := func(s string) string {
		q, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(q)
	}
	var tools []string
	for i, s := range texts {
		q := quote(fmt.Sprintf("t%d-%s", i, s.text))
		tools = append(tools, fmt.Sprintf(`{"name":%s,"description":%s,"inputSchema":{"type":"object","properties":{%s:{"type":"string","default":%s}}},"annotations":{"title":%s,"readOnlyHint":true}}`, q, q, q, q, q))
	}
	l.Begin(append(tools, analyzetest.Note)...)
	for _, s := range texts {
		q, x := quote(s.text), "x "+s.text+" y"
		l.Request("initialize", `{}`, `{"protocolVersion":`+q+`,"serverInfo":{"name":`+q+`,"version":`+q+`},"instructions":`+q+`,`+q+`:{}}`)
		l.Frame(session.S2C, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":`+q+`}}`)
		l.Frame(session.S2C, `{"jsonrpc":"2.0","id":`+q+`,"error":{"code":-1,"message":`+q+`}}`)
		l.Frame(session.S2C, x)
		l.Frame(session.S2C, x+"\xff")
		l.Mark(session.Mark{Kind: session.MarkStderr, Text: x})
		l.Mark(session.Mark{Kind: session.MarkStderr, Data: []byte(x + "\xff")})
		l.Mark(session.Doubt(session.Gap{Code: session.GapOther, Tool: x, Text: x}))
		l.Mark(session.Mark{Kind: session.MarkLoss, N: 1, What: x, Text: x})
		l.Mark(session.Mark{Kind: session.MarkReached, Dialled: &session.Dialled{Network: "tcp", Host: x, Err: x}})
		for _, e := range events(s.text) {
			l.Event(e)
		}
		l.Call(x, `{"text":`+q+`}`, func() {
			l.Open("/tmp/"+s.text, "O_WRONLY|O_CREAT", "")
			l.Read(analyzetest.Canary(t, "ssh-key").Path)
			l.Record(trace.Record{Op: trace.OpRename, Path: "/tmp/a", To: "/etc/" + s.text})
			l.Record(trace.Record{Op: trace.OpExec, Call: "execve", Path: "/bin/sh", Argv: []string{"sh", "-c", x}, Tid: 101})
			r := filled[trace.Record](s.text)
			r.Op, r.Err, r.Addr = trace.OpOpen, "", nil
			l.Record(r)
			l.Connect(s.text, 443, "")
			for n, f := range []trace.Flow{{Type: trace.FlowOpen}, {Type: trace.FlowQuery}, {Type: trace.FlowTLS}, {Type: trace.FlowRequest}, {Type: trace.FlowData, View: trace.ViewWire}, {Type: trace.FlowClose}} {
				g := filled[trace.Flow](s.text)
				g.Type, g.View, g.Proto, g.App, g.Flow, g.Request = f.Type, f.View, "tcp", "http/1.1", 7, n
				g.Stamp, g.Canary = 0, ""
				g.Dest = netip.MustParseAddrPort("93.184.216.34:443")
				l.Flow(g)
			}
		}, nil)
	}
	l.End()
	l.Close()
}

// unwrapped are the strings of a file, keys included, and what of them is base 64.
func unwrapped(t *testing.T, name string, data []byte) string {
	t.Helper()
	if !bytes.HasPrefix(bytes.TrimSpace(data), []byte("{")) && !bytes.HasPrefix(bytes.TrimSpace(data), []byte("[")) {
		return string(data) + "\n" + html.UnescapeString(string(data))
	}
	out := bytes.NewBuffer(nil)
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	for {
		token, err := d.Token()
		if token == nil && err != nil {
			if err.Error() != "EOF" {
				t.Fatalf("%s: %v", name, err)
			}
			return out.String()
		}
		if s, ok := token.(string); ok {
			fmt.Fprintln(out, s)
			if raw, err := base64.StdEncoding.DecodeString(s); err == nil && len(s) > 8 {
				fmt.Fprintf(out, "%s\n", raw)
			}
		}
	}
}

// passedValues are values of each shape that matters to a redactor.
var passedValues = map[string]string{
	"short":    "hx7$q2",
	"password": "correct<horse>&\"battery'",
	"key":      "zk-live-4fJ8sKq0Vn2LxT7bRw5YpD1m",
	"long":     strings.Repeat("Zq8vLm2xWc5tRn9bHj4s", 9),
	"a URL":    "postgres://app:p4ssw0rd-of-app@db.internal:5432/notes?sslmode=require",
	"lines":    "-----BEGIN THING-----\nMHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04f\nSeQ6tF1aY/PuoAoGCCqGSM49AwEHoUQDQgAEPR3t\n-----END THING-----",
}

// TestNoPassedValueInAnyOutput plants a value in all that a server has a say in, in
// every spelling, and looks for it in all that a probe writes and prints.
func TestNoPassedValueInAnyOutput(t *testing.T) {
	for name, value := range passedValues {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			texts := spellings(value)
			redactor := canaries.NewRedactor([]string{value})
			l := analyzetest.NewWith(t, redactor, func(h *session.Header) {
				h.Command, h.Target, h.Dummies = []string{"node", value}, "node "+value, []string{"A=" + value}
			})
			plant(t, l, texts)
			out := session.Output{Root: l.Dir(), Redactor: redactor}
			printed := writeAll(t, out, value, texts)
			whole := map[string]string{}
			add := func(which string, texts map[string]string) {
				for name, text := range texts {
					whole[which+name] = unwrapped(t, name, []byte(text))
				}
			}
			add("", filesOf(t, l.Dir().Name()))
			if len(whole) < 10 {
				t.Fatalf("%d files", len(whole))
			}
			add("printed as ", printed)
			sameAgain(t, l.Dir())
			add("", readAgain(t, l.Dir().Name()))
			add("again ", filesOf(t, l.Dir().Name()))
			for name, text := range whole {
				if !strings.Contains(text, "[passed]") && !slices.Contains(silent, strings.TrimPrefix(name, "again ")) {
					t.Errorf("%s: nothing is redacted", name)
				}
				for _, s := range texts {
					if i := strings.Index(text, s.core); i >= 0 {
						t.Errorf("%s holds the value, %s: %.200q", name, s.name, text[max(0, i-60):])
					}
				}
			}
		})
	}
}

// silent are the outputs in which nothing of a server's text stands.
var silent = []string{
	session.IndexFile, analyze.AuditFile, targetFile, "printed as line", "judged.line", "baseline", "health", "watch", "advise", "together as text", "together as json",
	"report", "judge", "key", "key.pub", "attest", verdictFile,
}

const (
	targetFile  = "target.json"
	verdictFile = "abababababababababababababababababababababababababababababababab.jsonl"
)

// filesOf are the regular files below a directory, by their base names.
func filesOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			var data []byte
			data, err = os.ReadFile(path)
			out[d.Name()] = string(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// readAgain are the outputs of the commands that read a run's directory or its log, and do not
// know the value.
func readAgain(t *testing.T, dir string) map[string]string {
	t.Helper()
	log, to := filepath.Join(dir, session.FramesFile), t.TempDir()
	in := func(name string) string { return filepath.Join(to, name) }
	target := `{"schema":"coalmine/target/v1","name":"notes","digest":"sha256:` + strings.TrimSuffix(verdictFile, ".jsonl") + `","effort":{"calls":8,"timeout":1,"callTimeout":1,"oracleTime":1,"shrinkTime":1,"idle":1}}`
	if err := os.WriteFile(filepath.Join(dir, targetFile), []byte(target), 0o600); err != nil {
		t.Fatal(err)
	}
	judge := []string{"judge", dir}
	for _, format := range formats {
		judge = append(judge, "--format", format+"="+in("judged."+format))
	}
	if status, out := said("attest", "--new-key", in("key")); status != ExitOK {
		t.Fatal(out)
	}
	all := map[string][]string{
		"judge": judge, "report": {"report", log}, "summarize": {"summarize", log}, "health": {"health", dir}, "watch": {"watch", dir},
		"advise": {"advise", "--all", dir, log}, "replay-decisions": {"replay-decisions", log}, "lock": {"lock", "--out", "-", log},
		"together as text": {"together", dir, dir}, "together as json": {"together", "--format", "json", dir, dir},
		"baseline": {"baseline", "--out", in("baseline"), filepath.Join(dir, report.FileJSON)},
		"attest":   {"attest", "--key", in("key"), "--out", in("verdicts"), "--valid", "876000h", dir},
	}
	for _, format := range []string{"text", "json", "sarif"} {
		all["detect as "+format] = []string{"detect", "--format", format, log}
	}
	out := map[string]string{}
	for name, args := range all {
		status, text := said(args...)
		if status == ExitUsage {
			t.Errorf("%s: %s", name, text)
		}
		out[name] = text
	}
	for name, text := range filesOf(t, to) {
		out[name] += text
	}
	return out
}

// writeAll writes all files of a run beside its log, and returns what is printed of it in each format.
func writeAll(t *testing.T, out session.Output, value string, texts []spelled) map[string]string {
	t.Helper()
	must := mustOf(t)
	p := plan.Plan{Target: value, Drive: plan.Drive{Kind: plan.DrivePlay}}
	runs := []session.IndexedRun{{Role: session.RoleDeclared, Experiment: "declared", Dir: "."}}
	inputs := analyze.Inputs{Least: true, Out: value, AuditError: value, Location: finding.Location{Path: value}}
	var shrunk []analyze.Shrunk
	for _, s := range texts {
		p.Drive.Words = append(p.Drive.Words, s.text)
		p.Server.Command = append(p.Server.Command, s.text)
		p.Env = append(p.Env, plan.Variable{Name: "A", Value: s.text})
		args, err := json.Marshal(map[string]string{s.text: s.text})
		must(err)
		p.Drive.Steps = append(p.Drive.Steps, synth.Step{What: "tool", Name: s.text, Args: args})
		runs = append(runs, session.IndexedRun{Role: session.RoleFurther, Experiment: s.text, Dir: "further", How: s.text, Failed: s.text, Optional: true})
		shrunk = append(shrunk, analyze.Shrunk{Fingerprint: s.text, Replay: s.text, Without: s.text})
	}
	data, err := p.Encode()
	must(err)
	must(out.WriteBytes(plan.FileName, data))
	replay := synth.Replay{Tool: value, Steps: p.Drive.Steps}
	data, err = replay.Encode()
	must(err)
	must(out.WriteBytes("replay-1.json", data))
	must(out.WriteIndex(runs))
	must(analyze.WriteShrunk(out, shrunk))
	must(analyze.WriteInputs(out, inputs, &audit.Report{}))
	res, in, err := analyze.Judge(out.Root, "1")
	must(err)
	must(report.Write(out, res, in))
	if len(res.Findings) == 0 {
		t.Error("the run has no finding")
	}
	return printAll(t, out, res)
}

func mustOf(t *testing.T) func(error) {
	return func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// printAll is what a probe prints of a result in each format, and its least policy.
func printAll(t *testing.T, out session.Output, res *analyze.Result) map[string]string {
	t.Helper()
	must, printed := mustOf(t), map[string]string{}
	for _, format := range formats {
		for _, several := range []bool{false, true} {
			if several && format != "json" && format != "sarif" {
				continue // they are made alike
			}
			var b bytes.Buffer
			prints, err := (&env{out: &b, err: &b}).newPrinter([]string{format}, several)
			must(err)
			must(prints.add(res, out.Root.Name(), out.Redactor))
			must(prints.finish())
			printed[format] += b.String()
		}
	}
	f := &probeFlags{}
	f.policy.emit = filepath.Join(t.TempDir(), "policy")
	must(f.policed(res, out.Redactor))
	data, err := os.ReadFile(f.policy.emit)
	must(err)
	printed["policy"] = string(data)
	return printed
}

// TestNoPassedValueOfAResult has the value in all texts of a result that come from elsewhere
// than the log, which holds none: each writer and each format takes it out by itself.
func TestNoPassedValueOfAResult(t *testing.T) {
	t.Parallel()
	must := mustOf(t)
	for _, value := range passedValues {
		redactor := canaries.NewRedactor([]string{value})
		for _, s := range spellings(value) {
			if !scale.Part(value+s.name, 9) {
				continue
			}
			res := filled[analyze.Result](s.text)
			res.Verdict = analyze.Findings
			for i := range res.Findings {
				res.Findings[i].Rule, res.Findings[i].Severity = "CM101", finding.High
			}
			in := filled[analyze.Inputs](s.text)
			dir, err := os.OpenRoot(t.TempDir())
			must(err)
			out := session.Output{Root: dir, Redactor: redactor}
			must(report.Write(out, &res, &in))
			must(analyze.WriteInputs(out, in, &audit.Report{}))
			whole := filesOf(t, dir.Name())
			for name, text := range printAll(t, out, &res) {
				whole["printed as "+name] = text
			}
			must(dir.Close())
			for name, text := range whole {
				text = unwrapped(t, name, []byte(text))
				if i := strings.Index(text, s.core); i >= 0 {
					t.Errorf("%s holds the value, %s: %.200q", name, s.name, text[max(0, i-60):])
				}
				if !strings.Contains(text, "[passed]") && !slices.Contains(silent, name) {
					t.Errorf("%s: nothing is redacted", name)
				}
			}
		}
	}
}

// sameAgain judges a directory again, without knowing the value.
func sameAgain(t *testing.T, dir *os.Root) {
	t.Helper()
	was := map[string][]byte{}
	files := []string{report.FileJSON, report.FileSARIF, report.FileHTML, report.FileSummary}
	for _, name := range files {
		data, err := dir.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		was[name] = data
	}
	res, in, err := analyze.Judge(dir, "1")
	if err == nil {
		err = report.Write(session.Output{Root: dir}, res, in)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if now, err := dir.ReadFile(name); err != nil || !bytes.Equal(now, was[name]) {
			t.Errorf("%s is another when it is judged again: %v", name, err)
		}
	}
}
