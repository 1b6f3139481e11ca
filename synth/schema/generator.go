package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/leanovate/gopter"
	"github.com/santhosh-tekuri/jsonschema/v6"
	broke "github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// Class is the kind of values to generate.
type Class uint8

const (
	// Typical values mean something to the tool; some optional properties are present.
	Typical Class = iota
	// TypicalRequired has the required properties only.
	TypicalRequired
	// TypicalFull has every optional property.
	TypicalFull
	// Learned is Typical with whatever the dictionary knows.
	Learned
	// Sourced is Typical with the literals of the server's source.
	Sourced
	// Valid is random over the whole schema.
	Valid
	// Boundary values lie at the edges of what the schema allows: least and
	// greatest numbers, shortest and longest texts and lists, first and last members.
	Boundary
	// Invalid values break the schema at one place; Violate names it.
	Invalid
)

func (c Class) String() string {
	return [...]string{"typical", "typical-required", "typical-full", "learned", "sourced", "valid", "boundary", "invalid"}[min(int(c), int(Invalid))]
}

var (
	// ErrUnsatisfiable is wrapped where no value at all satisfies the schema.
	ErrUnsatisfiable = errors.New("schema cannot be satisfied")
	// ErrInvalid is wrapped where a value given does not satisfy the schema.
	ErrInvalid = errors.New("not valid under the schema")
	// ErrNotFound is wrapped where no valid value was found within the bounds.
	ErrNotFound = errors.New("no valid value found")
)

const (
	maxTries = 60      // values drawn for one Draw before it gives up
	maxSteps = 150_000 // nodes visited for one Draw
	// maxRetries bounds the values drawn again within one value: where a part
	// never fits, trying again at each level would take exponential time.
	maxRetries = 400
	maxTime    = 10 * time.Second
	maxBytes   = 1 << 20 // of one drawn value, roughly
)

// Options say what is known beside the schema.
type Options struct {
	// Tool is the tool's name: a tool that creates wants a new name, one that reads an old one.
	Tool string
	// Description is the tool's own.
	Description string
	Hints       Hints
	// Object restricts the values to objects, as a tool's arguments are.
	Object bool
	// Documents are what references may name beside the schema itself, by
	// absolute URL. A reference to anything else is never followed.
	Documents map[string]json.RawMessage
}

// Generator draws values for one schema. It is safe for concurrent use.
type Generator struct {
	mu       sync.Mutex
	doc      any
	notes    []string
	top      *jsonschema.Schema
	re       *engine
	graph    *graph
	root     *node
	depth    int
	nodes    map[string]*node
	patterns map[string]*pattern
	opts     Options
	meaning  *meaning
}

// New compiles a schema. The error says that it does not compile, is too large
// or too complex, or that no value satisfies it.
func New(raw json.RawMessage, opts Options) (*Generator, error) {
	if len(raw) == 0 {
		raw = json.RawMessage(`{"type":"object"}`)
	}
	c, err := compile(raw, opts.Documents)
	if err != nil {
		return nil, err
	}
	g := &Generator{doc: c.doc, notes: c.notes, top: c.root, re: c.re, opts: opts,
		graph: newGraph(c.root, c.ends), nodes: map[string]*node{}, patterns: map[string]*pattern{}}
	g.depth = g.graph.depthWithin()
	if g.depth < 1 {
		return nil, fmt.Errorf("%w: it refers to itself too many times over", ErrTooComplex)
	}
	if h := g.graph.height[0]; h >= infinite {
		return nil, fmt.Errorf("%w: it asks for endless nesting, or forbids everything", ErrUnsatisfiable)
	}
	g.root = &node{set: []*jsonschema.Schema{c.root}, shapes: map[string]*shape{}, object: opts.Object}
	g.meaning = &meaning{}
	if sh := g.shapeOf(g.root, first{}); !g.root.choice && sh.dead {
		return nil, fmt.Errorf("%w: its keywords contradict each other", ErrUnsatisfiable)
	}
	return g, nil
}

// Notes says what of the schema had to be ignored for it to compile.
func (g *Generator) Notes() []string { return g.notes }

// Check asks the validator whether raw satisfies the schema.
func (g *Generator) Check(raw json.RawMessage) error {
	_, err := g.Canonical(raw)
	return err
}

// Canonical is raw in the form in which values are drawn, if it satisfies the schema.
func (g *Generator) Canonical(raw json.RawMessage) (json.RawMessage, error) {
	v, err := decode(raw)
	if err != nil {
		return nil, err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.judge(g.top, v) {
		return nil, fmt.Errorf("%w: %s", ErrInvalid, breaks(g.top, v))
	}
	return appendJSON(nil, v), nil
}

// breaks says what the first place must be at which a value breaks a schema:
// "/n must be an integer, got a string". It never quotes what is there.
func breaks(s *jsonschema.Schema, v any) (where string) {
	where = "it cannot be checked"
	defer func() { _ = recover() }() // as for judge
	var leaf *jsonschema.ValidationError
	if !errors.As(s.Validate(v), &leaf) {
		return where
	}
	for len(leaf.Causes) > 0 {
		leaf = leaf.Causes[0]
	}
	place := "/" + strings.Join(leaf.InstanceLocation, "/")
	switch k := leaf.ErrorKind.(type) {
	case *broke.Required:
		return fmt.Sprintf("%s must have %s", place, strings.Join(k.Missing, ", "))
	case *broke.Type:
		want := make([]string, len(k.Want))
		for i, t := range k.Want {
			want[i] = withArticle(t)
		}
		return fmt.Sprintf("%s must be %s, got %s", place, strings.Join(want, " or "), withArticle(k.Got))
	case *broke.Enum:
		return place + " must be one of the values in the schema"
	case *broke.Pattern:
		return place + " must match the pattern in the schema"
	case *broke.AdditionalProperties:
		return place + " must have only declared properties"
	}
	return fmt.Sprintf("%s violates the keyword %s", place, strings.Join(leaf.ErrorKind.KeywordPath(), "/"))
}

// withArticle is the name of a JSON type in a sentence: "an integer".
func withArticle(t string) string {
	switch t {
	case "null":
		return t
	case "array", "integer", "object":
		return "an " + t
	}
	return "a " + t
}

// judge is the validator; whatever makes it panic is not valid.
func (g *Generator) judge(s *jsonschema.Schema, v any) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	return s.Validate(v) == nil
}

// Draw returns the canonical JSON of one value of a class. The same seed gives the
// same value on any machine, except that an exhausted time limit is an error.
func (g *Generator) Draw(seed int64, class Class) (json.RawMessage, error) {
	p := &gopter.GenParameters{MaxSize: 20, MaxShrinkCount: 1000, Rng: rand.New(NewSource(seed))}
	v, err := g.drawAny(p, class)
	if err != nil {
		return nil, err
	}
	return appendJSON(make([]byte, 0, 256), v), nil
}

func (g *Generator) drawAny(p *gopter.GenParameters, class Class) (any, error) {
	if class == Invalid {
		v, _, err := g.violate(p, nil)
		return v, err
	}
	return g.draw(p, class)
}

func (g *Generator) draw(p *gopter.GenParameters, class Class) (any, error) {
	return g.drawFor(p, class, nil)
}

// drawFor tries until the judge is content. Where cover is not nil, what it
// still misses is preferred.
func (g *Generator) drawFor(p *gopter.GenParameters, class Class, cover *Coverage) (any, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	d := &drawer{g: g, p: p, rng: p.Rng, class: class, cover: cover, deadline: time.Now().Add(maxTime)}
	for try := range maxTries {
		if try > maxTries/2 && (d.class != Boundary || try > maxTries*3/4) {
			d.class = Valid
		}
		d.bytes, d.one, d.used, d.retries = 0, "", false, maxRetries
		clear(d.ends)
		d.literals = d.literals[:0]
		d.wander = try%3 == 2
		d.look()
		v, ok := d.node(g.root, g.meaning, 0)
		if ok && (!g.opts.Object || typeOfValue(v) == tObject) && g.judge(g.top, v) {
			if cover != nil {
				cover.cost = d.steps + d.bytes/textCost
			}
			return v, nil
		}
		if d.exhausted() {
			return nil, fmt.Errorf("%w: gave up after %d tries and %d steps", ErrNotFound, try+1, d.steps)
		}
	}
	return nil, fmt.Errorf("%w in %d tries", ErrNotFound, maxTries)
}

// Gen is the gopter generator of a class: its sieve is the validator, its
// shrinker knows the schema.
func (g *Generator) Gen(class Class) gopter.Gen {
	sieve := func(x any) bool {
		v, ok := x.(Value)
		if !ok {
			return false
		}
		g.mu.Lock()
		defer g.mu.Unlock()
		return g.judge(g.top, v.V) == (class != Invalid) && (!g.opts.Object || typeOfValue(v.V) == tObject)
	}
	shrinker := g.Shrinker()
	if class == Invalid {
		shrinker = gopter.NoShrinker
	}
	return func(p *gopter.GenParameters) *gopter.GenResult {
		r := &gopter.GenResult{ResultType: reflect.TypeFor[Value](), Shrinker: shrinker, Sieve: sieve}
		if v, err := g.drawAny(p, class); err == nil {
			r.Result = Value{v}
		}
		return r
	}
}

// farFuture is the deadline of what is bounded by steps alone.
var farFuture = time.Unix(1<<40, 0)

// Source is splitmix64: cheap to seed and the same on any machine and with any
// version of Go.
type Source struct{ state uint64 }

// NewSource returns a source for rand.New.
func NewSource(seed int64) *Source { return &Source{uint64(seed)} }

// Seed starts the source again.
func (s *Source) Seed(seed int64) { s.state = uint64(seed) }

// Int63 is a number of 63 bits.
func (s *Source) Int63() int64 { return int64(s.Uint64() >> 1) }

// Uint64 is a number of 64 bits.
func (s *Source) Uint64() uint64 {
	s.state += 0x9e3779b97f4a7c15
	z := s.state
	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb
	return z ^ (z >> 31)
}
