package schema

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// maxAddresses bounds the addresses that are taken from the declaration of one argument.
const maxAddresses = 4

var (
	wholeAddress = regexp.MustCompile("https?://[^\\s\"'`<>()\\[\\]{},|*]{4,150}")
	// namedHost is a host that a text names without an address.
	namedHost = regexp.MustCompile(`(?i)(?:^|[\s("'` + "`" + `])((?:[a-z0-9][a-z0-9-]{0,40}\.){1,4}(?:com|org|net|io|dev|ai|app|co|gov|edu|info|me|tv|be))(?:$|[\s)"'` + "`" + `,.;:/])`)
	// shortForm is what stands for an address in a shorter form, as "owner/repository".
	shortForm = regexp.MustCompile(`^[\w.-]{1,60}(?:/[\w.-]{1,60})?$`)
)

// declaredAddresses are the addresses that a tool's own declaration names for an argument: a tool that asks one
// site takes no other. What it declares is no place of which only an answer speaks.
func declaredAddresses(m *meaning, tool string) []string {
	var out []string
	add := func(address string) {
		if len(out) < maxAddresses && !slices.Contains(out, address) {
			out = append(out, address)
		}
	}
	for _, address := range Addresses(m.text) {
		add(address)
	}
	for _, said := range m.said {
		if strings.Contains(said, "/") && shortForm.MatchString(said) && !namedHost.MatchString(said) {
			add(said)
		}
	}
	for _, text := range []string{m.text, tool} {
		for _, address := range Hosts(text) {
			add(address)
		}
	}
	return out
}

// Addresses are the first addresses of the public web that a text names, in its order.
func Addresses(text string) (out []string) {
	for _, address := range wholeAddress.FindAllString(text, 2*maxAddresses) {
		if strings.HasSuffix(address, "..") {
			continue // the rest of it is left out
		}
		if address = strings.TrimRight(address, ".:;!?"); public(address) {
			out = append(out, address)
		}
	}
	return out
}

// Hosts are the addresses of the first public hosts that a text names without an address.
func Hosts(text string) (out []string) {
	for _, found := range namedHost.FindAllStringSubmatch(text, maxAddresses) {
		if address := "https://" + strings.ToLower(found[1]) + "/"; public(address) {
			out = append(out, address)
		}
	}
	return out
}

// public reports whether an address leads to a host of the public network by name, and is written out.
func public(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil || u.Port() != "" || strings.Contains(address, "…") {
		return false
	}
	host := strings.ToLower(u.Hostname())
	if _, err := netip.ParseAddr(host); err == nil {
		return false
	}
	inner := slices.ContainsFunc([]string{".local", ".internal", ".lan", ".localhost", ".home", ".corp", ".test", ".invalid"}, func(s string) bool { return strings.HasSuffix(host, s) })
	return strings.Contains(host, ".") && !inner
}
