package synth

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// refusedAddress is a refusal of an address, or of its host.
var refusedAddress = lazyregexp.New(`(?i)\b(?:ur[li]s?|domains?|hosts?|address(?:es)?|links?|sites?)\b`)

var (
	// addressInText is an address of the web in what a server declares.
	addressInText = lazyregexp.New(`https?://[\w.-]{1,100}\.[a-z]{2,12}(?:/[\w./%~+-]{0,200})?(?:\?[\w=&%.+-]{0,200})?`)
	// hostInText is the name of a host in it, or in a refusal.
	hostInText = lazyregexp.New(`\b(?:[a-z0-9][a-z0-9-]{0,40}\.){1,4}(?:com|org|net|io|dev|app|ai|edu|gov|info|co)\b`)
)

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
	add := func(address string) {
		if raw, err := json.Marshal(strings.TrimRight(address, ".")); err == nil && len(out) < maxTried && !slices.Contains(out, string(raw)) {
			out = append(out, string(raw))
		}
	}
	own := t.decl.Description + "\n" + string(t.decl.InputSchema)
	for _, address := range addressInText.FindAllString(own, maxTried) {
		add(address)
	}
	for _, host := range hostInText.FindAllString(refusal+"\n"+own, maxTried) {
		add("https://" + host + "/")
	}
	for _, other := range d.tools {
		for _, address := range addressInText.FindAllString(other.decl.Description, maxAddresses) {
			add(address)
		}
	}
	return out
}

// otherAddress gives a refused address one that another tool took under the same name, or that the server's texts name:
// where it speaks to some hosts alone. A host that a description names is declared, so that this gives it no leave. nil
// is for none.
func (d *driver) otherAddress(t *target, args json.RawMessage, text string) json.RawMessage {
	var given map[string]json.RawMessage
	if t.what != WhatTool || len(text) > 4096 || !refusedAddress.MatchString(text) || json.Unmarshal(args, &given) != nil {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		old := given[name]
		if !isAddress(old) {
			continue
		}
		for _, address := range slices.Concat(d.addresses[name], d.namedAddresses(t, text)) {
			given[name] = json.RawMessage(address)
			if next := arguments(given, true); !t.wasGiven(next) {
				return next
			}
		}
		given[name] = old
	}
	return nil
}
