package detect

import (
	"bytes"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// additions finds results that have all addresses of their call and one more, which is the same for calls that gave
// other addresses: whoever uses the list pays, admits or writes to somebody whom nobody named.
type additions struct {
	// seen are the addresses that results had beyond those of their calls, by tool and address, with what the first
	// such call gave.
	seen map[string]map[string]string
	told map[string]bool
	// gave are the addresses that calls gave so far.
	gave map[string]bool
}

// maxAdded bounds the addresses of one tool that are kept, and maxParts the parts of one text and one result.
const maxAdded, maxParts = 200, 2000

func (*additions) name() string { return "added_address" }

func (q *additions) event(c *context) {
	if !c.IsCallResult() || c.Asked == nil || len(c.given) == 0 || len(c.given) > maxArgument || len(c.Result) > maxComparedLen ||
		q.told[c.Asked.Tool] || !mayAddress(c.given) {
		return
	}
	if q.gave == nil {
		q.seen, q.told, q.gave = map[string]map[string]string{}, map[string]bool{}, map[string]bool{}
	}
	given := map[addressKind][]string{}
	eachString(c.given, func(_, s string) {
		for _, item := range itemsOf(s) {
			given[item.kind] = append(given[item.kind], item.address)
			if len(q.gave) < maxGave {
				q.gave[item.address] = true
			}
		}
	})
	if len(given) == 0 {
		return
	}
	var items []item
	eachString(c.Result, func(_, s string) {
		if len(items) < maxParts {
			items = append(items, itemsOf(s)...)
		}
	})
	for _, kind := range slices.Sorted(maps.Keys(given)) {
		if q.compare(c, kind, given[kind], items) {
			return
		}
	}
}

// compare looks for the addresses of a kind that a result has beyond those that its call gave, and reports whether it
// told of one.
func (q *additions) compare(c *context, kind addressKind, given []string, items []item) bool {
	has, forms := map[string]bool{}, map[string]bool{}
	for _, i := range items {
		if i.kind == kind {
			has[i.address] = true
			forms[i.form] = forms[i.form] || slices.Contains(given, i.address)
		}
	}
	if slices.ContainsFunc(given, func(address string) bool { return !has[address] }) {
		return false
	}
	slices.Sort(given)
	by := strings.Join(slices.Compact(given), " ")
	for _, i := range items {
		if i.kind != kind || !forms[i.form] || q.gave[i.address] || kind == networkAddress && !isPublic(i.address) || namesAddress(c, i.address) {
			continue
		}
		of := q.seen[c.Asked.Tool]
		if of == nil {
			of = map[string]string{}
			q.seen[c.Asked.Tool] = of
		}
		if first, known := of[i.address]; known && first != by {
			q.tell(c, i.address)
			return true
		} else if !known && len(of) < maxAdded {
			of[i.address] = by
		}
	}
	return false
}

func (q *additions) tell(c *context, address string) {
	tool := c.Asked.Tool
	q.told[tool] = true
	c.add(Divergence, "added_address", 3, []any{"tool", name(tool)},
		"results of %s have all addresses that their calls gave, and %s beside them, which no call gave and no declaration names", quoted(tool), name(address))
	c.identify("results of %s have an address that no call gave", quoted(tool))
	c.ofTool()
}

// namesAddress reports whether the tool's declaration or the instructions name an address.
func namesAddress(c *context, address string) bool {
	if strings.Contains(c.state.Instructions, address) {
		return true
	}
	s := c.state.Surface
	return s != nil && s.Tools[c.Asked.Tool] != nil && bytes.Contains(s.Tools[c.Asked.Tool].Raw, []byte(address))
}

// addressKind is what an address is of; that of a payee is the family of its identifier.
type addressKind string

const (
	networkAddress addressKind = "network"
	mailAddress    addressKind = "mail"
)

// item is a part of a text, such as a line or an element of a list, that holds one address.
type item struct {
	kind    addressKind
	address string
	form    string // the part with the address left out
}

// networks are IPv4 addresses and networks.
var networks = lazyregexp.New(`\b(?:\d{1,3}\.){3}\d{1,3}(?:/\d{1,2})?\b`)

// itemsOf lists the parts of a text that hold one address each.
func itemsOf(s string) (out []item) {
	if !mayAddress([]byte(s)) {
		return nil
	}
	parts := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("\r\n,;[]{}|", r) })
	for _, part := range parts[:min(len(parts), maxParts)] {
		part = strings.TrimSpace(part)
		if i, ok := itemOf(part); ok {
			out = append(out, i)
		}
	}
	return out
}

// itemOf is the one address that a part of a text holds.
func itemOf(part string) (item, bool) {
	found := networks.FindAllString(part, 2)
	kind := networkAddress
	if len(found) == 0 {
		found, kind = mails.FindAllString(part, 2), mailAddress
	}
	if len(found) == 0 {
		for _, id := range payees(part) {
			found, kind = append(found, id.value), addressKind(id.family())
		}
	}
	if len(found) != 1 {
		return item{}, false
	}
	whole := found[0]
	address := strings.ToLower(whole)
	if kind == networkAddress {
		address = strings.TrimSuffix(address, "/32")
		whole, _, _ = strings.Cut(whole, "/")
		part = networkSize.ReplaceAllString(part, "")
	}
	return item{kind, address, strings.Replace(part, whole, "\x00", 1)}, true
}

// networkSize is how many bits of an address are a network's.
var networkSize = lazyregexp.New(`/\d{1,2}\b`)

// resolvers are public servers of names, which programs put into lists by themselves.
var resolvers = []string{"8.8.8.8", "8.8.4.4", "1.1.1.1", "1.0.0.1", "9.9.9.9"}

// isPublic reports whether an address or network is of one machine or network that any other can reach.
func isPublic(s string) bool {
	host, _, _ := strings.Cut(s, "/")
	a, err := netip.ParseAddr(host)
	return err == nil && a.IsGlobalUnicast() && !a.IsPrivate() && !slices.Contains(resolvers, host)
}

// mayAddress reports whether a text may hold an address.
func mayAddress(s []byte) bool {
	if bytes.IndexByte(s, '@') >= 0 || mayIdentify(s) {
		return true
	}
	for i := 1; i+1 < len(s); i++ {
		if s[i] == '.' && isDecimal(s[i-1]) && isDecimal(s[i+1]) {
			return true
		}
	}
	return false
}

func isDecimal(c byte) bool { return c >= '0' && c <= '9' }
