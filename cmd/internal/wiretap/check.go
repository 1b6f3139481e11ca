package wiretap

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/coalmine-dev/coalmine/analyze/pii"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// maxSchemas bounds the schemas that are kept compiled.
const maxSchemas = 1024

// Validator checks arguments against declared schemas, and compiles
// each once. It may be used from many goroutines.
func Validator() func(schema, arguments json.RawMessage) error {
	var mu sync.Mutex
	known := map[string]*schema.Generator{}
	return func(raw, arguments json.RawMessage) error {
		mu.Lock()
		g, ok := known[string(raw)]
		mu.Unlock()
		if !ok {
			// A schema that does not compile is kept as nil.
			g, _ = schema.New(raw, schema.Options{Object: true})
			mu.Lock()
			if len(known) >= maxSchemas {
				clear(known)
			}
			known[string(raw)] = g
			mu.Unlock()
		}
		if g == nil {
			return gate.ErrUnusable
		}
		if err := g.Check(arguments); err != nil {
			return err
		}
		if len(g.Notes()) > 0 {
			return gate.ErrUnusable // a part of it had to be left out
		}
		return nil
	}
}

// Canaries looks for the decoys of a probe's run, whose files are in dir.
func Canaries(dir string) (func(raw []byte) []string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	run, err := session.Open(root)
	if err != nil {
		return nil, err
	}
	if len(run.Header.Canaries) == 0 {
		return nil, fmt.Errorf("%s: the run has no decoys", dir)
	}
	set := canaries.FromCanaries(run.Header.Canaries)
	return func(raw []byte) []string {
		if hits := set.Find(raw); len(hits) > 0 {
			return []string{"a decoy"}
		}
		return nil
	}, nil
}

// secretSeverity is that of a pattern whose every match is a secret.
const secretSeverity = 3

// Secrets looks for keys, tokens and numbers that are private. It names kinds,
// never what it found. A text that is too long to be searched is a kind of its own.
func Secrets() func(raw []byte) []string {
	scanners := sync.Pool{New: func() any { return pii.NewScanner(nil) }}
	return func(raw []byte) []string {
		s := scanners.Get().(*pii.Scanner)
		defer scanners.Put(s)
		var kinds []string
		truncated := s.Truncated
		for _, h := range s.Scan(raw) {
			if h.Severity >= secretSeverity && !slices.Contains(kinds, h.Category) {
				kinds = append(kinds, h.Category)
			}
		}
		if s.Truncated > truncated {
			kinds = append(kinds, "more than can be searched for secrets")
		}
		return kinds
	}
}

// Scanners joins several; each may name kinds of its own.
func Scanners(all ...func(raw []byte) []string) func(raw []byte) []string {
	if len(all) == 0 {
		return nil
	}
	return func(raw []byte) []string {
		var kinds []string
		for _, scan := range all {
			kinds = append(kinds, scan(raw)...)
		}
		return kinds
	}
}
