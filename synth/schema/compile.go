package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// What a schema may hold before it is refused. Real tools stay far below.
const (
	maxSchemaBytes  = 4 << 20
	maxSchemaValues = 400_000
	maxSchemaMaps   = 8_000
	maxSchemaDepth  = 128
	maxNumberText   = 400
	maxExponent     = 400
	schemaURL       = "coalmine:///schema.json"
)

// ErrTooLarge is wrapped by the error for a schema beyond the limits.
var ErrTooLarge = errors.New("schema too large")

// errNoDocument ends the error for a reference that would have to be fetched.
var errNoDocument = errors.New("is outside the schema and is never fetched")

// documents is the loader of a compiler that must never read anything, neither
// file nor network, whatever a reference names: it knows only what the caller
// gave it in memory.
type documents map[string]any

// Load implements jsonschema.URLLoader.
func (d documents) Load(url string) (any, error) {
	if doc, ok := d[url]; ok {
		return doc, nil
	}
	return nil, fmt.Errorf("reference to %q %w", clip(url), errNoDocument)
}

func decodeDocuments(raw map[string]json.RawMessage) (documents, error) {
	out := make(documents, len(raw))
	for _, url := range sortedKeys(raw) {
		doc, err := decode(raw[url])
		if err != nil {
			return nil, fmt.Errorf("document %q: %w", clip(url), err)
		}
		out[url] = doc
	}
	return out, nil
}

// clip keeps a server's own text short where it enters a message.
func clip(s string) string {
	const most = 120
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// decode reads one JSON document, numbers as they were written.
func decode(raw json.RawMessage) (any, error) {
	if len(raw) > maxSchemaBytes {
		return nil, fmt.Errorf("%w: %d bytes", ErrTooLarge, len(raw))
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var doc any
	if err := dec.Decode(&doc); err != nil {
		return nil, fmt.Errorf("schema is not JSON: %w", err)
	}
	if dec.More() {
		return nil, errors.New("schema is not JSON: text after the value")
	}
	var c census
	if err := c.count(doc, 0); err != nil {
		return nil, err
	}
	return doc, nil
}

// census counts what a document holds.
type census struct{ values, maps int }

func (c *census) count(v any, depth int) error {
	c.values++
	if depth > maxSchemaDepth {
		return fmt.Errorf("%w: nested deeper than %d", ErrTooLarge, maxSchemaDepth)
	}
	if c.values > maxSchemaValues || c.maps > maxSchemaMaps {
		return fmt.Errorf("%w: more than %d objects or %d values", ErrTooLarge, maxSchemaMaps, maxSchemaValues)
	}
	switch v := v.(type) {
	case map[string]any:
		c.maps++
		for _, child := range v {
			if err := c.count(child, depth+1); err != nil {
				return err
			}
		}
	case []any:
		for _, child := range v {
			if err := c.count(child, depth+1); err != nil {
				return err
			}
		}
	case json.Number:
		return checkNumber(v)
	}
	return nil
}

// checkNumber refuses numbers whose exact value would fill the memory.
func checkNumber(n json.Number) error {
	s := string(n)
	if len(s) > maxNumberText {
		return fmt.Errorf("%w: a number of %d digits", ErrTooLarge, len(s))
	}
	i := strings.IndexAny(s, "eE")
	if i < 0 {
		return nil
	}
	e, err := strconv.Atoi(s[i+1:])
	if err != nil || e > maxExponent || e < -maxExponent {
		return fmt.Errorf("%w: the number %s", ErrTooLarge, clip(s))
	}
	return nil
}

// compiled is a schema that the validator understands.
type compiled struct {
	root  *jsonschema.Schema
	ends  []*jsonschema.Schema // what a dynamic reference may lead to
	doc   any
	docs  documents
	notes []string
	re    *engine
}

// compile tries the schema as its $schema says, else as 2020-12, else as the
// draft whose keywords it uses. What no draft accepts is tried once more
// without the keywords that are malformed, and each of those is noted.
func compile(raw json.RawMessage, known map[string]json.RawMessage) (*compiled, error) {
	doc, err := decode(raw)
	if err != nil {
		return nil, err
	}
	docs, err := decodeDocuments(known)
	if err != nil {
		return nil, err
	}
	c := &compiled{doc: doc, docs: docs, re: newEngine()}
	first := c.tryDrafts()
	if first == nil {
		return c, nil
	}
	r := repairer{re: c.re}
	c.doc = r.schema(doc, 0)
	r.references(c.doc)
	if err := c.tryDrafts(); err != nil {
		return nil, fmt.Errorf("compile schema: %w", first)
	}
	r.note("as declared it does not compile: %s", clip(firstLine(first.Error())))
	c.notes = r.notes
	return c, nil
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// draftURLs are the names under which a schema may ask for a draft.
var draftURLs = map[string]*jsonschema.Draft{
	"json-schema.org/draft-04/schema": jsonschema.Draft4, "json-schema.org/draft-06/schema": jsonschema.Draft6,
	"json-schema.org/draft-07/schema": jsonschema.Draft7, "json-schema.org/draft/2019-09/schema": jsonschema.Draft2019,
	"json-schema.org/draft/2020-12/schema": jsonschema.Draft2020,
}

// only2019 are keywords that draft 7 lacks and that 2020-12 reads otherwise or not at all.
var only2019 = []string{`"$recursiveRef"`, `"unevaluatedItems"`, `"unevaluatedProperties"`, `"dependentSchemas"`, `"dependentRequired"`, `"$defs"`, `"minContains"`}

// drafts are those to try, the likeliest first. A document that the schema
// refers to and that names no draft is read as the schema is.
func (c *compiled) drafts() []*jsonschema.Draft {
	if m, ok := c.doc.(map[string]any); ok {
		url, _ := m["$schema"].(string)
		_, rest, _ := strings.Cut(strings.TrimSuffix(url, "#"), "://")
		if d := draftURLs[rest]; d != nil {
			return []*jsonschema.Draft{d}
		}
	}
	return []*jsonschema.Draft{jsonschema.Draft2020, jsonschema.Draft2019, jsonschema.Draft7, jsonschema.Draft4}
}

func (c *compiled) tryDrafts() error {
	var first error
	for _, draft := range c.drafts() {
		if first != nil && draft == jsonschema.Draft2019 && !mentions(c.doc, only2019) {
			continue
		}
		root, ends, err := compileAs(c.doc, c.docs, draft, c.re)
		if err == nil {
			c.root, c.ends = root, ends
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

// mentions says whether a key of the document is one of a list of quoted names.
func mentions(doc any, quoted []string) bool {
	text := key(doc)
	return slices.ContainsFunc(quoted, func(k string) bool { return strings.Contains(text, k+":") })
}

func compileAs(doc any, docs documents, draft *jsonschema.Draft, re *engine) (root *jsonschema.Schema, ends []*jsonschema.Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, fmt.Errorf("the schema compiler gave up: %v", p)
		}
	}()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(draft)
	c.UseLoader(docs)
	c.UseRegexpEngine(re.compile)
	c.AssertFormat()
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, nil, err
	}
	if root, err = c.Compile(schemaURL); err != nil {
		return nil, nil, err
	}
	return root, anchored(c, doc, docs), nil
}
