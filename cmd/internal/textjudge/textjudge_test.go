package textjudge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
)

// judgeEnv makes the test's own program a judge of the kind that it names.
const judgeEnv = "COALMINE_TEST_TEXT_JUDGE"

func TestMain(m *testing.M) {
	if kind := os.Getenv(judgeEnv); kind != "" {
		beJudge(kind)
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// beJudge is the program on the other side.
func beJudge(kind string) {
	switch kind {
	case "silent":
		return
	case "sleeping":
		time.Sleep(time.Hour)
	case "flood":
		for {
			if _, err := fmt.Println(strings.Repeat(" ", 1000)); err != nil {
				return
			}
		}
	case "long line":
		fmt.Println(strings.Repeat("x", maxLine+1))
		return
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var in struct{ ID, Text, Where, Tool string }
		if json.Unmarshal(lines.Bytes(), &in) != nil {
			os.Exit(9)
		}
		say := "fine"
		if strings.Contains(in.Text, "order") {
			say = "order"
		}
		switch kind {
		case "other verdicts":
			say = "maybe"
		case "other ids":
			in.ID += "x"
		case "fails":
			os.Exit(7)
		}
		fmt.Printf("{\"id\":%q,\"verdict\":%q,\"why\":\"%s %s\\u001b\"}\n", in.ID, say, in.Where, in.Tool)
		if kind == "half" {
			return
		}
	}
}

func texts() (out []analyze.SaidText) {
	for i, s := range []string{"an order to a model", "a plain text", "one more order"} {
		out = append(out, analyze.SaidText{ID: fmt.Sprint(i + 1), Text: s, Where: "tools/list tools", Tool: "do", Seq: 7})
	}
	return out
}

// Its verdicts are taken, and whatever goes wrong is said.
func TestAsk(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		kind            string
		judged, missing int
		orders          string
		failed          string
	}{
		{"well", 3, 0, "1 3", ""},
		{"half", 1, 2, "1", ""},
		{"silent", 0, 3, "", ""},
		{"fails", 0, 3, "", "exit status 7"},
		{"other verdicts", 0, 3, "", "neither order nor fine"},
		{"other ids", 0, 3, "", "neither order nor fine"},
		{"flood", 0, 3, "", "more than"},
		{"long line", 0, 3, "", "cannot be read"},
	} {
		t.Run(c.kind, func(t *testing.T) {
			t.Setenv(judgeEnv, c.kind)
			got, err := Ask(t.Context(), []string{self, "-test.run=^$"}, texts())
			if err != nil {
				t.Fatal(err)
			}
			var orders []string
			for _, o := range got.Orders {
				orders = append(orders, o.ID)
				if o.Why != `tools/list tools do\u{1B}` || o.Seq != 7 {
					t.Errorf("%+v", o)
				}
			}
			if got.Judged != c.judged || got.Missing != c.missing || strings.Join(orders, " ") != c.orders || !strings.Contains(got.Failed, c.failed) || c.failed == "" && got.Failed != "" {
				t.Errorf("%+v", got)
			}
		})
	}
	if got, err := Ask(t.Context(), []string{"./no/such/program"}, texts()); err != nil || !strings.Contains(got.Failed, "does not start") || got.Missing != 3 {
		t.Errorf("%+v %v", got, err)
	}
	if got, err := Ask(t.Context(), []string{"./no/such/program"}, nil); err != nil || got.Failed != "" {
		t.Errorf("nothing to ask: %+v %v", got, err)
	}
}

// The program ends with the run.
func TestAskEndsWithTheRun(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(judgeEnv, "sleeping")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if got, err := Ask(ctx, []string{self}, texts()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%+v %v", got, err)
	}
}

// Whatever the program writes, what counts is a verdict on a text that it was given.
func FuzzHear(f *testing.F) {
	f.Add([]byte(`{"id":"1","verdict":"order","why":"it orders"}` + "\n\n" + `{"id":"2","verdict":"fine"}` + "\n"))
	f.Add([]byte(`{"id":"9","verdict":"order"}`))
	f.Add([]byte(`{"id":"1","verdict":"order"}` + "\n" + `{"id":"1","verdict":"fine"}`))
	f.Add([]byte("null\n[]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		answers, err := hear(bytes.NewReader(data), texts())
		for id, v := range answers {
			if v.ID != id || id != "1" && id != "2" && id != "3" || v.Verdict != "order" && v.Verdict != "fine" {
				t.Errorf("%q: %+v", id, v)
			}
		}
		if len(data) > maxOutput && err == nil {
			t.Errorf("%d bytes were read", len(data))
		}
	})
}
