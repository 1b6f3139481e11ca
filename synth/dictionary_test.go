package synth

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// TestLiteralsAreTried holds that what the source compares with is given
// within eight calls, each time without a hint about the tool.
func TestLiteralsAreTried(t *testing.T) {
	literals := schema.Literals{Texts: []string{"first word", "open sesame", "/etc/passwd", "https://elsewhere.test/", "x; rm y"}, Numbers: []string{"4711", "12"}, Lengths: []int{120}}
	for name, hit := range map[string]func(text string, n int) bool{
		"a text":   func(text string, _ int) bool { return text == "open sesame" },
		"a part":   func(text string, _ int) bool { return strings.Contains(text, "open sesame") },
		"a number": func(_ string, n int) bool { return n == 4711 },
		"the next": func(_ string, n int) bool { return n > 4711 && n < 4800 },
	} {
		reached := 0
		for seed := range int64(10) {
			f, found := newFake(tool("echo", anything)), false
			f.tool = func(_ string, args json.RawMessage) (client.Result, error) {
				var a struct {
					Text string
					N    int
				}
				if json.Unmarshal(args, &a) != nil {
					return refusal("no"), nil
				}
				found = found || hit(a.Text, a.N)
				for _, bad := range []string{"/etc/passwd", "elsewhere.test", "rm y"} {
					if strings.Contains(a.Text, bad) {
						t.Errorf("%q was given", a.Text)
					}
				}
				return success("ok"), nil
			}
			driveWith(t, f, Config{Seed: seed}, literals)
			if found {
				reached++
			}
		}
		if reached < 10 {
			t.Errorf("%s: reached with %d of 10 seeds", name, reached)
		}
	}
}

// TestLengthsAreTried holds that a text longer than what the source asks for is given.
func TestLengthsAreTried(t *testing.T) {
	reached := 0
	for seed := range int64(10) {
		f, found := newFake(tool("echo", anything)), false
		f.tool = func(_ string, args json.RawMessage) (client.Result, error) {
			var a struct{ Text string }
			found = found || json.Unmarshal(args, &a) == nil && len(a.Text) == 301
			return success("ok"), nil
		}
		driveWith(t, f, Config{Seed: seed}, schema.Literals{Lengths: []int{300}})
		if found {
			reached++
		}
	}
	if reached < 10 {
		t.Errorf("reached with %d of 10 seeds", reached)
	}
}

func driveWith(t *testing.T, f *fake, cfg Config, literals schema.Literals) {
	t.Helper()
	cfg.Session, cfg.Surface, cfg.Now = f, f.surface, f.clock
	cfg.Hints = WorkspaceHints("/w", 7, noFile)
	cfg.Hints.Literals = literals
	cfg.Hints.Long = "" // long_test.go has what is long
	if _, err := Drive(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
}

// TestDeclarationsTeach: what one tool declares for an argument is tried for
// another of that name.
func TestDeclarationsTeach(t *testing.T) {
	f := newFake(
		tool("list_boards", `{"type":"object","properties":{"boardName":{"enum":["roadmap-7","archive-2"]}}}`),
		tool("get_card", `{"type":"object","required":["boardName"],"properties":{"boardName":{"type":"string"}}}`))
	found := false
	f.tool = func(name string, args json.RawMessage) (client.Result, error) {
		found = found || name == "get_card" && strings.Contains(string(args), "archive-2")
		return success("ok"), nil
	}
	drive(t, f, Config{})
	if !found {
		t.Errorf("%s", fmt.Sprint(f.log))
	}
}
