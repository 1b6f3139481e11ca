package synth

import (
	"encoding/json"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// refusedAddress is a refusal of an address, or of its host.
var refusedAddress = lazyregexp.New(`(?i)\b(?:ur[li]s?|domains?|hosts?|address(?:es)?|links?|sites?)\b`)

// wantsLocal is a refusal of an address that asks for a file of this machine.
var wantsLocal = lazyregexp.New(`(?i)\b(?:only|must|requires?|required|needs?|expect(?:s|ed)?|support(?:s|ed)?)\b[^.\n]{0,60}\b(?:local (?:files?|paths?|documents?)|file:(?://)? ?(?:ur[li]s?|paths?)?)|` +
	`\bnot a local (?:file|path)\b|\b(?:remote|http)[^.\n]{0,40}\bnot (?:supported|allowed|local)\b`)

// maxAddresses bounds the addresses that are remembered under one name, maxTried those that are tried for one argument.
const (
	maxAddresses = 4
	maxTried     = 8
)

// answered remembers the addresses that a tool took: tools of one server often speak to the same hosts.
func (d *driver) answered(args json.RawMessage) {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil {
		return
	}
	for name, raw := range given {
		if list := d.addresses[name]; isAddress(raw) && len(list) < maxAddresses && !slices.Contains(list, string(raw)) {
			if d.addresses == nil {
				d.addresses = map[string][]string{}
			}
			d.addresses[name] = append(list, string(raw))
		}
	}
}

// isAddress reports whether a JSON value is an address of the web.
func isAddress(raw json.RawMessage) bool {
	s, ok := textOf(raw)
	return ok && (strings.HasPrefix(s, "https://") || strings.HasPrefix(s, "http://"))
}

// namedAddresses are those that the texts of a tool name, hosts of its refusal and of its texts, and those of other tools.
func (d *driver) namedAddresses(t *target, refusal string) (out []string) {
	own := t.decl.Description + "\n" + wire.Prose(string(t.decl.InputSchema))
	texts := slices.Concat(schema.Addresses(own), schema.Hosts(refusal), schema.Hosts(own))
	for _, other := range d.tools {
		texts = append(texts, schema.Addresses(other.decl.Description)...)
	}
	for _, address := range texts {
		if raw, err := json.Marshal(address); err == nil && len(out) < maxTried && !slices.Contains(out, string(raw)) {
			out = append(out, string(raw))
		}
	}
	return out
}

// asLocal gives a refused address a planted file where the refusal asks for one of this machine: of the type that the
// tool names first, as a path and as a file: URI. nil is for none.
func (d *driver) asLocal(t *target, args json.RawMessage, text string) json.RawMessage {
	if !wantsLocal.MatchString(text) {
		return nil
	}
	h := &d.cfg.Hints
	var places []string
	for _, file := range append(h.OfType(schema.Words(t.name+" "+t.decl.Description)), h.Files...) {
		for _, place := range []string{file, (&url.URL{Scheme: "file", Path: file}).String()} {
			if raw, err := json.Marshal(place); err == nil && len(places) < maxTried {
				places = append(places, string(raw))
			}
		}
	}
	return t.elsewhere(args, text, func(string) []string { return places })
}

// otherAddress gives a refused address one that another tool took under the same name, or that the server's texts name:
// where it speaks to some hosts alone. A host that a description names is declared, so that this gives it no leave. nil
// is for none.
func (d *driver) otherAddress(t *target, args json.RawMessage, text string) json.RawMessage {
	if !refusedAddress.MatchString(text) {
		return nil
	}
	return t.elsewhere(args, text, func(name string) []string { return slices.Concat(d.addresses[name], d.namedAddresses(t, text)) })
}

// elsewhere gives the first address among refused arguments another place that was not tried with them: places are
// those for an argument, as JSON. nil is for none.
func (t *target) elsewhere(args json.RawMessage, text string, places func(name string) []string) json.RawMessage {
	return t.untried(args, text, func(name string, old json.RawMessage) []string {
		if !isAddress(old) {
			return nil
		}
		return places(name)
	})
}

// untried gives one of some refused arguments another value that was not tried with the others: values are those for an
// argument, as JSON, none for one that stays. nil is for none.
func (t *target) untried(args json.RawMessage, text string, values func(name string, old json.RawMessage) []string) json.RawMessage {
	var given map[string]json.RawMessage
	if t.what != WhatTool || len(text) > 4096 || json.Unmarshal(args, &given) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		old := given[name]
		for _, value := range values(name, old) {
			given[name] = json.RawMessage(value)
			if next := arguments(given, true); !t.wasGiven(next) {
				return next
			}
		}
		given[name] = old
	}
	return nil
}
