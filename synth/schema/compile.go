package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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

// refuse is the loader of a compiler that must never read anything: neither
// file nor network, whatever a reference names.
type refuse struct{}

func (refuse) Load(url string) (any, error) {
	return nil, fmt.Errorf("reference to %q is outside the schema and is never fetched", clip(url))
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
	doc   any
	notes []string
	re    *engine
}

// compile tries the schema as its $schema says, else as 2020-12, else as
// draft 7. What no draft accepts is tried once more without the keywords that
// are malformed, and each of those is noted.
func compile(raw json.RawMessage) (*compiled, error) {
	doc, err := decode(raw)
	if err != nil {
		return nil, err
	}
	c := &compiled{doc: doc, re: newEngine()}
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

func (c *compiled) tryDrafts() error {
	var first error
	for _, draft := range []*jsonschema.Draft{jsonschema.Draft2020, jsonschema.Draft7} {
		root, err := compileAs(c.doc, draft, c.re)
		if err == nil {
			c.root = root
			return nil
		}
		if first == nil {
			first = err
		}
	}
	return first
}

func compileAs(doc any, draft *jsonschema.Draft, re *engine) (root *jsonschema.Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			root, err = nil, fmt.Errorf("the schema compiler gave up: %v", p)
		}
	}()
	c := jsonschema.NewCompiler()
	c.DefaultDraft(draft)
	c.UseLoader(refuse{})
	c.UseRegexpEngine(re.compile)
	c.AssertFormat()
	if err := c.AddResource(schemaURL, doc); err != nil {
		return nil, err
	}
	return c.Compile(schemaURL)
}
