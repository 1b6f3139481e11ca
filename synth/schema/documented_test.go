package schema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func TestDocumented(t *testing.T) {
	t.Parallel()
	const google = "Records a thought.\n\n    Args:\n        thought: The content\n        stage (str): The stage (Research,\n            Analysis, Synthesis)\n        tags: Keywords\n\n    Returns:\n        text"
	for _, c := range []struct{ description, name, want string }{
		{google, "thought", "The content"},
		{google, "stage", "The stage (Research, Analysis, Synthesis)"},
		{google, "tag", ""},
		{"Finds.\n:param str query: what to find\n:param limit: how many", "query", "what to find"},
		{"Finds.\n- `query`: what to find\n- **limit** - how many", "limit", "how many"},
		{"A query: none", "query", ""},
		{"", "query", ""},
	} {
		if got := documented(c.description, c.name); got != c.want {
			t.Errorf("%s: %q, not %q", c.name, got, c.want)
		}
	}
}

func TestListed(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Legacy stage, case-insensitive: Problem Definition, Research, Analysis":         "Problem Definition|Research|Analysis",
		"The stage (new, open or closed)":                                                "new|open|closed",
		"HTTP method (GET/POST/PUT)":                                                     "GET|POST|PUT",
		"One of asc | desc | none.":                                                      "asc|desc|none",
		"The state is either on, off, or auto":                                           "on|off|auto",
		"The title (at most 80 characters, optional)":                                    "",
		"The path of a file, a folder, or a link":                                        "",
		"A name (letters, digits, the dash)":                                             "",
		"Note: this deletes the file, the folder and everything that lies in it":         "",
		"One of: nixos (default), home-manager, darwin, nix-dev. For a flake, its path.": "nixos|home-manager|darwin|nix-dev",
		"The first, second":                                                              "",
	} {
		if got := strings.Join(listed(text), "|"); got != want {
			t.Errorf("%s: %q, not %q", text, got, want)
		}
	}
}

// What takes one of a few values is known by its enum and by its description.
func TestChoices(t *testing.T) {
	t.Parallel()
	g, err := New(json.RawMessage(`{"type":"object","properties":{"kind":{"enum":["a","b"]},"source":{"type":"string","description":"One of: nixos (default), darwin, wiki."},`+
		`"n":{"type":"integer","description":"one, two or three"},"text":{"type":"string"},"deep":{"allOf":[{"enum":[1,2,3,4]}]}}}`), Options{Object: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(g.Choices()); got != "[{deep [1 2 3 4]} {source [nixos darwin wiki]} {kind [a b]}]" {
		t.Error(got)
	}
}

// A parameter without a word of its own is drawn by what the tool's description says of it.
func TestDrawnAsDocumented(t *testing.T) {
	t.Parallel()
	g, err := New(json.RawMessage(`{"type":"object","properties":{"stage":{"type":"string","title":"Stage"}},"required":["stage"]}`),
		Options{Tool: "process_thought", Description: "Records.\n\nArgs:\n    stage: The stage (Research, Analysis, Synthesis)\n", Object: true})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := g.Draw(1, Typical); err != nil || string(got) != `{"stage":"Research"}` {
		t.Errorf("%s %v", got, err)
	}
}

// An example that leads to no host is what a parameter of addresses takes; a page of the web is not.
func TestAddressesOfOtherSchemes(t *testing.T) {
	t.Parallel()
	for example, want := range map[string]string{"otpauth://totp/a?secret=JBSWY3DPEHPK3PXP": "otpauth://totp/a?secret=JBSWY3DPEHPK3PXP", "https://real.example.net/x": "https://www.example.com/"} {
		g, err := New(json.RawMessage(`{"type":"object","properties":{"uri":{"type":"string","examples":["`+example+`"]}},"required":["uri"]}`), Options{Tool: "add", Object: true})
		if err != nil {
			t.Fatal(err)
		}
		seen := false
		for seed := range int64(8) {
			got, err := g.Draw(seed, Typical)
			if err != nil || example != want && strings.Contains(string(got), example) {
				t.Errorf("%s %v", got, err)
			}
			seen = seen || string(got) == `{"uri":"`+want+`"}`
		}
		if !seen {
			t.Errorf("%s is never drawn", want)
		}
	}
}
