package plan

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/canaries"
)

// passedValue is a real value that the server gets.
type passedValue struct{ name, value string }

// ownWords are the texts that every report is made of, in small letters.
var ownWords = sync.OnceValue(func() string { return strings.ToLower(report.Words()) })

// redactor takes passed values out of what a run writes. The second result says of
// which variables the values are left in, and why.
func redactor(passed []passedValue) (*canaries.Redactor, []string) {
	var values, left []string
	for _, v := range passed {
		switch n := len(v.value); {
		case n == 0:
		case n < canaries.LeastPassed:
			left = append(left, fmt.Sprintf("%s: its value has %d characters, and fewer than %d cannot be told from other text", v.name, n, canaries.LeastPassed))
		case strings.Contains(ownWords(), strings.ToLower(v.value)):
			left = append(left, v.name+": its value is a word that every report has")
		default:
			values = append(values, v.value)
		}
	}
	return canaries.NewRedactor(values), left
}

// WithoutDecoys is a JSON text without the values of decoys.
func (p *Plan) WithoutDecoys(text []byte) ([]byte, error) {
	if p.Decoys == nil {
		return text, nil
	}
	out := []byte(p.Decoys.Redact(string(text)))
	if !json.Valid(out) {
		return nil, errors.New("a secret is part of its syntax")
	}
	return out, nil
}
