package detect

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// lazySchema is the validator's form of a schema, made when it is first needed.
type lazySchema struct {
	tried bool
	root  *jsonschema.Schema
}

// The bounds of what the validator is given: beyond them nothing is claimed.
const (
	maxSchema = 1 << 20
	maxValue  = 4 << 20
)

// refuse is a loader that reads nothing, whatever a reference names.
type refuse struct{}

func (refuse) Load(string) (any, error) { return nil, errors.New("references are never fetched") }

// linear is a server's expression in Go's engine, which cannot be made to run
// long. One that it does not know matches everything: nothing is claimed by it.
type linear struct {
	re  *regexp.Regexp
	src string
}

func (l linear) MatchString(s string) bool { return l.re == nil || l.re.MatchString(s) }
func (l linear) String() string            { return l.src }

// full asks the validator; the zero problem is a value that fits, or one about which
// it can say nothing.
func (k *check) full(value json.RawMessage, what string) (p problem) {
	defer func() {
		if recover() != nil {
			p = problem{} // what the validator chokes on proves nothing
		}
	}()
	if !k.lazy.tried {
		k.lazy.tried = true
		k.lazy.root = compileFull(k.raw)
	}
	if k.lazy.root == nil || len(value) > maxValue {
		return problem{}
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(value))
	if err != nil {
		return problem{}
	}
	var bad *jsonschema.ValidationError
	if err := k.lazy.root.Validate(doc); !errors.As(err, &bad) {
		return problem{}
	}
	leaf := bad
	for len(leaf.Causes) > 0 {
		leaf = leaf.Causes[0]
	}
	path := strings.Join(leaf.InstanceLocation, ".")
	return problem{
		says:     fmt.Sprintf("%s violates the keyword %s", name("/"+strings.Join(leaf.InstanceLocation, "/")), keyword(leaf.ErrorKind)),
		identity: fmt.Sprintf("%s does not satisfy the keyword %s", at(what, path), keyword(leaf.ErrorKind)),
	}
}

// keyword names the last keyword of an error. Its message would quote the value.
func keyword(k jsonschema.ErrorKind) string {
	if _, ok := k.(*kind.FalseSchema); ok {
		return "false"
	}
	if path := k.KeywordPath(); len(path) > 0 {
		return name(path[len(path)-1])
	}
	return "of the schema"
}

func compileFull(raw json.RawMessage) *jsonschema.Schema {
	if len(raw) > maxSchema || wire.CheckJSON(raw) != nil {
		return nil
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return nil
	}
	for _, draft := range []*jsonschema.Draft{jsonschema.Draft2020, jsonschema.Draft7} {
		c := jsonschema.NewCompiler()
		c.DefaultDraft(draft)
		c.UseLoader(refuse{})
		c.UseRegexpEngine(func(s string) (jsonschema.Regexp, error) {
			re, err := regexp.Compile(s)
			if err != nil {
				re = nil
			}
			return linear{re, s}, nil
		})
		if c.AddResource("coalmine:///schema.json", doc) != nil {
			continue
		}
		if root, err := c.Compile("coalmine:///schema.json"); err == nil {
			return root
		}
	}
	return nil
}
