package synth

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

const (
	// maxInferred bounds what one tool's refusals may add to its schema.
	maxInferred = 64
	// maxIssuePath bounds how deep a refusal may point.
	maxIssuePath = 8
)

// issue is one fault that a validator (zod's, as in the official SDK) found
// with the arguments. A server whose declaration is poorer than its validator
// tells here, and only here, what it takes.
type issue struct {
	Code     string
	Expected string
	Received string
	Message  string
	Path     []any
}

// inferrable are the types that an issue may ask for.
var inferrable = []string{"string", "number", "integer", "boolean", "array", "object"}

// typed says that the issue names the type of a value at some path.
func (i *issue) typed() bool {
	return i.Code == "invalid_type" && slices.Contains(inferrable, i.Expected) && len(i.Path) > 0 && len(i.Path) <= maxIssuePath
}

// missing says that there was no value.
func (i *issue) missing() bool {
	return i.Received == "undefined" || strings.HasSuffix(i.Message, "received undefined") || i.Message == "Required"
}

// infer adds to a tool's schema what a refusal asks for, and reports whether
// there was anything.
func (t *target) infer(text string) (found bool) {
	if t.what != WhatTool || len(text) > maxResultText {
		return false
	}
	doc := t.inferred
	if doc == nil && json.Unmarshal(t.decl.InputSchema, &doc) != nil {
		return false
	}
	for _, i := range issues(text) {
		if about := aboutArgument.FindStringSubmatch(text); len(i.Path) == 0 && about != nil {
			i.Path = []any{about[1]}
		}
		if !i.typed() || t.additions >= maxInferred {
			continue
		}
		if doc == nil {
			doc = map[string]any{}
		}
		if demand(doc, i.Path, i.Expected, i.missing()) {
			t.additions++
			t.inferred, t.gen, t.reached, found = doc, nil, nil, true
		}
	}
	return found
}

// aboutArgument is what stands before the issues of one argument's own check.
var aboutArgument = lazyregexp.New("(?i)^[^\\[]{0,80}\\b(?:argument|parameter|property|field|option) ['\"`“]?([A-Za-z_][\\w-]{0,60})['\"`”]?")

// issues finds the JSON list of issues in a refusal's text.
func issues(text string) []issue {
	at := strings.IndexByte(text, '[')
	if at < 0 {
		return nil
	}
	var out []issue
	if json.NewDecoder(strings.NewReader(text[at:])).Decode(&out) != nil {
		return nil
	}
	return out
}

// demand gives the value at a path a type where nothing is declared of it, and
// makes it required where it was missing. It reports whether that says anything new.
func demand(doc map[string]any, path []any, kind string, missing bool) (added bool) {
	if len(path) == 0 {
		if len(doc) > 0 {
			return false
		}
		doc["type"] = kind
		return true
	}
	switch key := path[0].(type) {
	case string:
		if _, typed := doc["type"]; !typed {
			doc["type"] = "object"
		}
		required, _ := doc["required"].([]any)
		if missing && !slices.Contains(required, any(key)) {
			doc["required"] = append(required, key)
			added = true
		}
		return demand(member(member(doc, "properties"), key), path[1:], kind, missing) || added
	case float64:
		if _, typed := doc["type"]; !typed {
			doc["type"] = "array"
		}
		return demand(member(doc, "items"), path[1:], kind, missing)
	}
	return false
}

// member is the object under a key, made where there is none.
func member(doc map[string]any, key string) map[string]any {
	m, ok := doc[key].(map[string]any)
	if !ok {
		m = map[string]any{}
		doc[key] = m
	}
	return m
}

// schema is what a tool's arguments are drawn from: what it declares and, where
// its refusals asked for more, that too.
func (t *target) schema() json.RawMessage {
	if t.inferred == nil {
		return t.decl.InputSchema
	}
	raw, err := json.Marshal(t.inferred)
	if err != nil {
		return t.decl.InputSchema
	}
	return raw
}

// redeclare takes in a new declaration, which ends what was inferred from the old and what
// was planned. It reports whether the schema is another.
func (t *target) redeclare(decl wire.Tool) (changed bool) {
	if changed = !bytes.Equal(t.decl.InputSchema, decl.InputSchema); changed {
		t.first = nil
		t.gen, t.reached, t.cover.Problem, t.inferred, t.additions = nil, nil, "", nil, 0
	}
	t.decl, t.gone = decl, false
	return changed
}
