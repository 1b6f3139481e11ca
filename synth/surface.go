package synth

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"sort"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// Change is a difference between two listings of one surface.
type Change struct {
	// After is the call after which it was seen.
	After Call
	// Each entry names its kind: "tool X", "resource U", "template U", "prompt P".
	Added, Removed, Changed []string
}

func (c Change) empty() bool { return len(c.Added)+len(c.Removed)+len(c.Changed) == 0 }

// fingerprint is the same for two listings that are the same byte by byte,
// which spares most comparisons.
func fingerprint(s *wire.Surface) [sha256.Size]byte {
	h := sha256.New()
	add := func(kind string, raw json.RawMessage) {
		fmt.Fprintf(h, "%s %d ", kind, len(raw))
		h.Write(raw)
	}
	for _, t := range s.Tools {
		add("tool", t.Raw)
	}
	for _, r := range s.Resources {
		add("resource", r.Raw)
	}
	for _, t := range s.Templates {
		add("template", t.Raw)
	}
	for _, p := range s.Prompts {
		add("prompt", p.Raw)
	}
	return [sha256.Size]byte(h.Sum(nil))
}

// declarations maps each entry of a surface to what it declares, order and
// spacing aside.
func declarations(s *wire.Surface) map[string]string {
	out := map[string]string{}
	add := func(kind, name string, raw json.RawMessage) {
		k := kind + " " + name
		// A name that is declared twice counts as one entry that says both.
		out[k] += canonical(raw)
	}
	for _, t := range s.Tools {
		add("tool", t.Name, t.Raw)
	}
	for _, r := range s.Resources {
		add("resource", r.URI, r.Raw)
	}
	for _, t := range s.Templates {
		add("template", t.URITemplate, t.Raw)
	}
	for _, p := range s.Prompts {
		add("prompt", p.Name, p.Raw)
	}
	return out
}

// canonical is raw with its keys sorted and its spacing gone.
func canonical(raw json.RawMessage) string {
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return string(raw)
	}
	b, err := json.Marshal(v)
	if err != nil {
		return string(raw)
	}
	return string(b)
}

// compare lists what differs between two listings.
func compare(before, now map[string]string) Change {
	var c Change
	for k, v := range now {
		old, known := before[k]
		switch {
		case !known:
			c.Added = append(c.Added, k)
		case old != v:
			c.Changed = append(c.Changed, k)
		}
	}
	for k := range before {
		if _, ok := now[k]; !ok {
			c.Removed = append(c.Removed, k)
		}
	}
	sort.Strings(c.Added)
	sort.Strings(c.Removed)
	sort.Strings(c.Changed)
	return c
}

// maxMentioned bounds the names of tools that texts of a surface speak of.
const maxMentioned = 24

// toolName is how names of tools are spelled that are no words: with an underscore, a
// hyphen or a capital within.
var toolName = lazyregexp.New(`\b[a-z][a-z0-9]*(?:[_-][a-z0-9]+)+\b|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b`)

// mentioned are names in the texts of a surface that may be those of tools.
func mentioned(s *wire.Surface) []string {
	var out []string
	for _, text := range textsOf(s) {
		for _, name := range toolName.FindAllString(text[:min(len(text), 16<<10)], maxMentioned) {
			if len(out) < maxMentioned && len(name) <= 64 && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// textsOf are the texts of a surface in which tools are spoken of.
func textsOf(s *wire.Surface) []string {
	out := []string{s.Instructions}
	for _, t := range s.Tools {
		out = append(out, t.Description)
	}
	for _, p := range s.Prompts {
		out = append(out, p.Description)
	}
	for _, r := range s.Resources {
		out = append(out, r.Description)
	}
	return out
}
