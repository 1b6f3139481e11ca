package schema

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"time"

	"github.com/leanovate/gopter"
	"github.com/santhosh-tekuri/jsonschema/v6"
	fault "github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// ErrNoViolation is wrapped where a schema forbids nothing that could be broken.
var ErrNoViolation = errors.New("nothing of the schema can be violated")

// Violation names the one thing that is wrong with a value.
type Violation struct {
	// Keyword is the schema's keyword that does not hold.
	Keyword string
	// Path is the JSON pointer to where it does not.
	Path string
}

func (v Violation) String() string {
	if v.Path == "" {
		return v.Keyword + " of the whole"
	}
	return v.Keyword + " at " + v.Path
}

const (
	violationBases = 6   // valid values that are tried
	maxMutants     = 400 // ways to break one value
	// maxTriedBytes bounds the documents that are validated for one base.
	maxTriedBytes = 2 << 20
)

// Violate returns a value that is valid except for one thing, and names it. Of
// what can be broken, that which used does not hold comes first; used may be
// nil. The validator refuses the value, at the place and for the keyword named.
func (g *Generator) Violate(seed int64, used map[string]bool) (json.RawMessage, Violation, error) {
	p := &gopter.GenParameters{MaxSize: 20, Rng: rand.New(NewSource(seed))}
	v, what, err := g.violate(p, used)
	if err != nil {
		return nil, Violation{}, err
	}
	return appendJSON(nil, v), what, nil
}

func (g *Generator) violate(p *gopter.GenParameters, used map[string]bool) (any, Violation, error) {
	var spare any
	var spareName Violation
	deadline := time.Now().Add(maxTime)
	for i := range violationBases {
		base, err := g.draw(p, []Class{TypicalFull, Typical, Valid}[i%3])
		if err != nil {
			return nil, Violation{}, err
		}
		g.mu.Lock()
		list := g.mutants(base)
		p.Rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		list = list[:min(len(list), 1+maxTriedBytes/(len(key(base))+1))]
		for i := range list {
			if time.Now().After(deadline) {
				g.mu.Unlock()
				return nil, Violation{}, fmt.Errorf("%w: the time for it was used up", ErrNotFound)
			}
			m := &list[i]
			if (spare != nil && used[m.name().String()]) || !g.breaks(m) {
				continue
			}
			spare, spareName = m.v, m.name()
			if !used[spareName.String()] {
				g.mu.Unlock()
				return spare, spareName, nil
			}
		}
		g.mu.Unlock()
	}
	if spare == nil {
		return nil, Violation{}, fmt.Errorf("%w", ErrNoViolation)
	}
	return spare, spareName, nil
}

// mutant is a valid value with one thing changed.
type mutant struct {
	keyword string
	path    []string
	v       any
}

func (m *mutant) name() Violation { return Violation{Keyword: m.keyword, Path: pointer(m.path)} }

// pointer writes a JSON pointer.
func pointer(path []string) string {
	var b strings.Builder
	for _, token := range path {
		b.WriteByte('/')
		b.WriteString(strings.NewReplacer("~", "~0", "/", "~1").Replace(token))
	}
	return b.String()
}

// breaks asks the validator whether the mutant is refused for what it is
// named after, and gives it the name that the refusal has for it.
func (g *Generator) breaks(m *mutant) (broken bool) {
	defer func() {
		if recover() != nil {
			broken = false
		}
	}()
	if g.opts.Object && typeOfValue(m.v) != tObject {
		return false
	}
	var refusal *jsonschema.ValidationError
	if !errors.As(g.top.Validate(m.v), &refusal) {
		return false
	}
	cause := blamed(refusal, m.keyword, m.path, maxShrinkDepth*8)
	if cause == nil {
		return false
	}
	if _, never := cause.ErrorKind.(*fault.FalseSchema); never {
		if last := cause.SchemaURL[strings.LastIndexByte(cause.SchemaURL, '/')+1:]; schemaKeywords[last] {
			m.keyword = last
		}
	}
	return true
}

// blamed is the error, or the one of its causes, that is for a keyword at a place.
func blamed(e *jsonschema.ValidationError, keyword string, path []string, depth int) *jsonschema.ValidationError {
	if slices.Equal(e.InstanceLocation, path) && keywordOf(e) == keyword {
		return e
	}
	if depth == 0 {
		return nil
	}
	for _, c := range e.Causes {
		if found := blamed(c, keyword, path, depth-1); found != nil {
			return found
		}
	}
	return nil
}

// keywordOf is the keyword that an error is about; "false" is a schema that
// nothing satisfies.
func keywordOf(e *jsonschema.ValidationError) string {
	switch e.ErrorKind.(type) {
	case *fault.Not:
		return "not"
	case *fault.Dependency:
		return "dependentRequired"
	case *fault.FalseSchema:
		return "false"
	}
	if p := e.ErrorKind.KeywordPath(); len(p) > 0 {
		return p[0]
	}
	return ""
}

// mutants lists the ways to break one thing of a valid value.
func (g *Generator) mutants(v any) []mutant {
	b := breaker{g: g, doc: v}
	w := walker{g: g, visit: b.place}
	w.walk(v)
	return b.out
}

// breaker collects mutants of one document.
type breaker struct {
	g   *Generator
	doc any
	out []mutant
}

// offer adds the document with the value at a place replaced.
func (b *breaker) offer(keyword string, p place, to any) { b.offerAt(keyword, p, nil, to) }

// offerAt is offer where the refusal will speak of something inside the place.
func (b *breaker) offerAt(keyword string, p place, inside []string, to any) {
	if len(b.out) < maxMutants {
		b.out = append(b.out, mutant{keyword, slices.Concat(p.path, inside), put(b.doc, p.path, to)})
	}
}

func (b *breaker) place(p place) {
	types := allTypes
	for _, s := range p.conj {
		types &= b.g.graph.types(s)
	}
	for _, s := range p.conj {
		if s.Types != nil {
			b.types(p, ownTypes(s))
		}
		b.fixed(p, s)
		if s.Not != nil && s.Not.Bool == nil {
			b.forbidden(p, s.Not)
		}
		switch v := p.v.(type) {
		case string:
			b.text(p, s, v)
		case json.Number:
			b.number(p, s, v, types)
		case []any:
			b.array(p, s, v)
		case map[string]any:
			b.object(p, s, v)
		}
	}
}

// plainValues is one value of each type, in the order in which they are preferred.
var plainValues = []any{json.Number("7"), "seven", true, []any{}, map[string]any{}, nil, json.Number("1.5")}

func (b *breaker) types(p place, allowed typeSet) {
	offered := 0
	for _, v := range plainValues {
		if typeOfValue(v)&allowed == 0 && offered < 3 {
			b.offer("type", p, v)
			offered++
		}
	}
}

// fixed offers a value beside those listed, of the same type.
func (b *breaker) fixed(p place, s *jsonschema.Schema) {
	keyword := "enum"
	switch {
	case s.Const != nil:
		keyword = "const"
	case s.Enum == nil:
		return
	}
	switch v := p.v.(type) {
	case string:
		b.offer(keyword, p, v+"x")
	case json.Number:
		b.offer(keyword, p, json.Number("987654321"))
	case bool:
		b.offer(keyword, p, !v)
	}
	b.offer(keyword, p, "none of these")
}

// forbidden offers a value that satisfies what must not hold.
func (b *breaker) forbidden(p place, s *jsonschema.Schema) {
	d := &drawer{g: b.g, p: gopter.DefaultGenParameters(), rng: rand.New(NewSource(int64(len(b.out)))), class: Valid, retries: maxRetries}
	d.p.Rng, d.p.MaxSize, d.deadline = d.rng, 8, farFuture
	if v, ok := d.node(b.g.nodeFor([]*jsonschema.Schema{s}), &meaning{}, softHeight); ok {
		b.offer("not", p, v)
	}
}
