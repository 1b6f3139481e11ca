package wire

import (
	"bytes"
	"encoding/json"
	"slices"
)

// List is one of the lists that a server declares itself in.
type List uint8

// The lists.
const (
	Tools List = iota
	Resources
	Templates
	Prompts
	lists // how many there are
)

var listMethods = [lists]string{Tools: "tools/list", Resources: "resources/list", Templates: "resources/templates/list", Prompts: "prompts/list"}

// Method is the request that asks for the list.
func (l List) Method() string { return listMethods[l] }

// ListOf is the list that a request asks for; ok is false for a request for none.
func ListOf(method string) (l List, ok bool) {
	i := slices.Index(listMethods[:], method)
	return List(max(i, 0)), i >= 0
}

// Entries are the entries of one list, in their order: the slice of its kind.
type Entries struct {
	Tools     []Tool
	Resources []Resource
	Templates []ResourceTemplate
	Prompts   []Prompt
}

// Len is how many there are.
func (e *Entries) Len() int {
	return len(e.Tools) + len(e.Resources) + len(e.Templates) + len(e.Prompts)
}

// add appends entries. Those of a first page are taken over as they are.
func (e *Entries) add(o *Entries) {
	if e.Len() == 0 {
		*e = Entries{slices.Clip(o.Tools), slices.Clip(o.Resources), slices.Clip(o.Templates), slices.Clip(o.Prompts)}
		return
	}
	e.Tools, e.Resources = append(e.Tools, o.Tools...), append(e.Resources, o.Resources...)
	e.Templates, e.Prompts = append(e.Templates, o.Templates...), append(e.Prompts, o.Prompts...)
}

// clip keeps the first n.
func (e *Entries) clip(n int) {
	e.Tools, e.Resources = e.Tools[:min(len(e.Tools), n)], e.Resources[:min(len(e.Resources), n)]
	e.Templates, e.Prompts = e.Templates[:min(len(e.Templates), n)], e.Prompts[:min(len(e.Prompts), n)]
}

// Page is one answer to a request for a list.
type Page struct {
	List List
	Entries
	// Next is the cursor of the page that follows, "" for the last one.
	Next string
	// Err says what of the page could not be read, as ParseTools does, nil for nothing.
	Err error
	// Flawed says that the list may hold more than Entries and Next say: an entry
	// has no name, the list is not a list, or the cursor is no text.
	Flawed bool

	raw json.RawMessage // the result
}

// Unreadable reports whether nothing of the page could be read.
func (p *Page) Unreadable() bool { return p.Err != nil && p.Len() == 0 }

// ReadPage reads the result of a request for a list. Nothing in it shares memory
// with result.
func ReadPage(l List, result json.RawMessage) *Page {
	p := &Page{List: l, raw: bytes.Clone(result)}
	key := ""
	switch l {
	case Tools:
		key = "tools"
		p.Tools, p.Next, p.Err = ParseTools(p.raw)
	case Resources:
		key = "resources"
		p.Resources, p.Next, p.Err = ParseResources(p.raw)
	case Templates:
		key = "resourceTemplates"
		p.Templates, p.Next, p.Err = ParseTemplates(p.raw)
	case Prompts:
		key = "prompts"
		p.Prompts, p.Next, p.Err = ParsePrompts(p.raw)
	}
	p.Flawed = p.flawed(key)
	return p
}

// flawed reports whether the result's list is another than the entries that were
// read of it. An entry without a name was left out, and "" is no name.
func (p *Page) flawed(key string) bool {
	var entries, cursor json.RawMessage
	EachMember(p.raw, func(k string, v json.RawMessage) {
		switch k {
		case key:
			entries = v
		case "nextCursor":
			cursor = v
		}
	})
	n := 0
	whole := WalkArray(entries, func(int, []byte) { n++ })
	return !whole || n != p.Len() || slices.ContainsFunc(p.Tools, func(t Tool) bool { return t.Name == "" }) ||
		cursor != nil && cursor[0] != 'n' && p.Next == ""
}

// Bound names a bound of a list.
type Bound string

// The bounds.
const (
	BoundEntries Bound = "entries"
	BoundPages   Bound = "pages"
	BoundBytes   Bound = "bytes"
	BoundCursor  Bound = "cursor"
)

// Bounds bound what is kept of a session. What is zero is as DefaultBounds has it.
type Bounds struct {
	// Pending are the requests of one side that wait for their answers.
	Pending int
	// Entries, Pages and Bytes are those of one list, all of its pages together.
	Entries, Pages, Bytes int
	// Cursor and Name are in bytes: a cursor's, and a tool's name where listings
	// are proofs.
	Cursor, Name int
}

// DefaultBounds are the bounds of a session that nobody conducts.
var DefaultBounds = Bounds{Pending: 1 << 16, Entries: 10_000, Pages: 1000, Bytes: 64 << 20, Cursor: 64 << 10, Name: 1 << 10}

// filled puts the defaults in the place of what is not positive.
func (b Bounds) filled() Bounds {
	for _, f := range []struct{ to, or *int }{
		{&b.Pending, &DefaultBounds.Pending}, {&b.Entries, &DefaultBounds.Entries}, {&b.Pages, &DefaultBounds.Pages},
		{&b.Bytes, &DefaultBounds.Bytes}, {&b.Cursor, &DefaultBounds.Cursor}, {&b.Name, &DefaultBounds.Name},
	} {
		if *f.to <= 0 {
			*f.to = *f.or
		}
	}
	return b
}

// Step is what a page comes to in its list.
type Step uint8

// The steps.
const (
	// More says that the list has a further page.
	More Step = iota
	// Complete says that the page was the list's last one.
	Complete
	// Stray says that the page belongs to no list under way: it was asked for with
	// another cursor than the page before has named.
	Stray
	// Cut says that the list goes on beyond a bound.
	Cut
)

// Pages collects the pages of one list. The zero Pages has the default bounds;
// what it keeps is within them.
type Pages struct {
	Bounds Bounds
	// Entries are those of the pages so far.
	Entries Entries
	// Over is the bound that was met, "" for none.
	Over Bound

	open        bool // a page was added
	next        string
	count, size int
}

// Reset gives up the list under way.
func (p *Pages) Reset() { *p = Pages{Bounds: p.Bounds} }

// Add takes a page that was asked for with this cursor, "" for the first one,
// which begins anew. A page that is Stray changes nothing.
func (p *Pages) Add(page *Page, cursor string) Step {
	if cursor == "" {
		p.Reset()
	} else if !p.open || p.Over != "" || cursor != p.next {
		return Stray
	}
	bounds := p.Bounds.filled()
	p.open, p.next = true, page.Next
	p.count, p.size = p.count+1, p.size+len(page.raw)
	p.Entries.add(&page.Entries)
	switch {
	case p.Entries.Len() > bounds.Entries:
		p.Over = BoundEntries
		p.Entries.clip(bounds.Entries)
	case p.count > bounds.Pages || p.count == bounds.Pages && page.Next != "":
		p.Over = BoundPages
	case p.size > bounds.Bytes:
		p.Over = BoundBytes
	case len(page.Next) > bounds.Cursor:
		p.Over = BoundCursor
	}
	switch {
	case p.Over != "":
		p.next = ""
		return Cut
	case page.Next == "":
		return Complete
	}
	return More
}
