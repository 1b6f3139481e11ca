package pii

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"time"
	"unicode/utf8"

	"github.com/dlclark/regexp2"
)

// custom is a user's expression: Go's, which is linear, or one with what Go's
// does not know (look-around), which is held to a time.
type custom struct {
	linear *regexp.Regexp
	other  *regexp2.Regexp
	valid  func([]byte) bool
}

// The bounds of a user's file, and of one match of an expression that is not linear.
const (
	maxFile      = 1 << 20
	maxPatterns  = 200
	matchTimeout = 20 * time.Millisecond
)

// entry is one pattern of a user's file, in glassport's form.
type entry struct {
	Category    *string  `json:"category"`
	Severity    *float64 `json:"severity"`
	Pattern     *string  `json:"pattern"`
	Description *string  `json:"description"`
	Validator   *string  `json:"validator"`
}

// Load reads a user's patterns: a JSON array of objects with category, severity
// (1 to 3), pattern, description and perhaps validator. All of them are good, or
// none is taken and the error says which is not.
func Load(path string) ([]*Pattern, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("patterns: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("patterns of %s: %w", path, err)
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("patterns of %s: more than %d bytes", path, maxFile)
	}
	out, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("patterns of %s: %w", path, err)
	}
	return out, nil
}

// Parse is Load for the file's contents.
func Parse(data []byte) ([]*Pattern, error) {
	var entries []entry
	if err := json.Unmarshal(data, &entries); err != nil {
		return nil, fmt.Errorf("not an array of patterns: %w", err)
	}
	if len(entries) > maxPatterns {
		return nil, fmt.Errorf("the file has %d patterns; coalmine takes at most %d", len(entries), maxPatterns)
	}
	var out []*Pattern
	for i, e := range entries {
		p, err := e.pattern()
		if err != nil {
			return nil, fmt.Errorf("pattern %d: %w", i+1, err)
		}
		out = append(out, p)
	}
	return out, nil
}

func (e *entry) pattern() (*Pattern, error) {
	if e.Category == nil || e.Severity == nil || e.Pattern == nil || e.Description == nil {
		return nil, errors.New("category, severity, pattern and description are all needed")
	}
	p := &Pattern{Category: *e.Category, Severity: int(*e.Severity), Description: *e.Description, custom: &custom{}}
	if float64(p.Severity) != *e.Severity || p.Severity < 1 || p.Severity > 3 {
		return nil, fmt.Errorf("severity %v of %.60q is not 1, 2 or 3", *e.Severity, p.Category)
	}
	if e.Validator != nil {
		if p.custom.valid = validators[*e.Validator]; p.custom.valid == nil {
			return nil, fmt.Errorf("validator %.60q of %.60q is not known", *e.Validator, p.Category)
		}
	}
	var err error
	if p.custom.linear, err = regexp.Compile(*e.Pattern); err == nil {
		return p, nil
	}
	if p.custom.other, err = regexp2.Compile(*e.Pattern, regexp2.None); err != nil {
		return nil, fmt.Errorf("expression of %.60q: %w", p.Category, err)
	}
	p.custom.other.MatchTimeout = matchTimeout
	return p, nil
}

// custom finds a user's pattern: the last group that took part, else all of the match.
func (m *matcher) custom(p *Pattern) {
	keep := func(start, end int) {
		if p.custom.valid == nil || p.custom.valid(m.t[start:end]) {
			m.add(p, start, end)
		}
	}
	if p.custom.linear != nil {
		for _, at := range p.custom.linear.FindAllSubmatchIndex(m.t, maxHits) {
			start, end := at[0], at[1]
			for k := 2; k+1 < len(at); k += 2 {
				if at[k] >= 0 {
					start, end = at[k], at[k+1]
				}
			}
			keep(start, end)
		}
		return
	}
	m.lookAround(p, keep)
}

// lookAround runs an expression of the other kind, whose places count characters.
func (m *matcher) lookAround(p *Pattern, keep func(start, end int)) {
	t := m.t
	if len(t) > maxSlow {
		m.cut = true
		end := maxSlow
		for end > 0 && !utf8.RuneStart(t[end]) {
			end--
		}
		t = t[:end]
	}
	text := []rune(string(t))
	bytesAt := make([]int, len(text)+1)
	for i, r := range text {
		bytesAt[i+1] = bytesAt[i] + len(string(r))
	}
	if bytesAt[len(text)] != len(t) {
		return // not UTF-8, which no JSON is
	}
	match, err := p.custom.other.FindRunesMatch(text)
	for n := 0; err == nil && match != nil && n < maxHits; n++ {
		at := match.Capture
		for _, g := range match.Groups()[1:] {
			if len(g.Captures) > 0 {
				at = g.Capture
			}
		}
		keep(bytesAt[at.Index], bytesAt[at.Index+at.Length])
		match, err = p.custom.other.FindNextMatch(match)
	}
}
