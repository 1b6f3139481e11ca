package detect

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/coalmine-dev/coalmine/analyze/pii"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// data finds credentials and personal data in arguments and results, and hosts
// in arguments that the server never declared.
type data struct {
	surface  *wire.Toolset
	server   string
	declared map[string]bool
}

func newData() *data { return &data{} }

func (*data) name() string { return "data_exfiltration" }

func (d *data) event(c *context) {
	switch {
	case c.IsCall() && !c.own:
		d.call(c)
	case c.IsCallResult():
		d.result(c)
	}
}

func (d *data) call(c *context) {
	args := c.Args
	if args == nil {
		return
	}
	hits := slices.Clone(c.scan.Scan(args))
	tool := ""
	if len(hits) > 0 || bytes.IndexByte(args, '.') >= 0 || bytes.Contains(args, []byte("://")) {
		tool = name(c.Asked.Tool)
	}
	secret := false
	for _, h := range hits {
		secret = secret || h.Severity >= 2
		c.add(Divergence, "pii_"+h.Category, h.Severity, []any{"pii_category", name(h.Category), "tool", tool},
			"an argument of %s contains %s: %s", quoted(c.Asked.Tool), name(h.Description), pii.Tag(h.Category, h.End-h.Start))
		c.ofTool()
	}
	if bytes.IndexByte(args, '.') < 0 && !bytes.Contains(args, []byte("://")) {
		return
	}
	for _, host := range hostsIn(args) {
		d.egress(c, host, tool, secret)
	}
}

// egress judges one host that an argument names.
func (d *data) egress(c *context, host, tool string, secret bool) {
	d.learn(c.state)
	trusted := isTrusted(host)
	if d.declared[host] || trusted && !secret {
		return
	}
	severity, how := 2, "which the server does not declare"
	if secret && !trusted {
		severity = 3
	}
	if trusted {
		how = "which belongs to a known cloud"
	}
	if secret {
		how += ", together with sensitive data"
	}
	c.add(Anomaly, "unexpected_egress_host", severity, []any{"host", name(host), "has_pii", secret, "trusted", trusted, "tool", tool},
		"the call of %s names the host %s, %s", quoted(c.Asked.Tool), quoted(host), how)
}

// learn keeps the hosts that the server has named of its own.
func (d *data) learn(s *wire.State) {
	if d.declared != nil && s.Surface == d.surface && string(s.ServerInfo) == d.server {
		return
	}
	d.surface, d.server, d.declared = s.Surface, string(s.ServerInfo), map[string]bool{}
	add := func(v json.RawMessage) {
		for _, h := range hostsIn(v) {
			d.declared[h] = true
		}
	}
	add(s.ServerInfo)
	if s.Surface == nil {
		return
	}
	for _, t := range s.Surface.Tools {
		add(t.InputSchema)
		if text, err := json.Marshal(t.Description); err == nil {
			add(text)
		}
	}
}

func (d *data) result(c *context) {
	body := c.Result
	if body == nil {
		body = c.Fault
	}
	for _, h := range slices.Clone(c.scan.Scan(body)) {
		if h.Severity < 3 || c.sent.has(c.scan.Value(h)) {
			continue
		}
		c.add(Divergence, "pii_in_result_"+h.Category, 3, []any{"pii_category", name(h.Category), "tool", name(c.Asked.Tool)},
			"the result of %s contains %s: %s", quoted(c.Asked.Tool), name(h.Description), pii.Tag(h.Category, h.End-h.Start))
		c.ofTool()
	}
}

// maxHosts bounds the hosts of one call.
const maxHosts = 50

// hostsIn lists the hosts in a JSON value: those of addresses anywhere in a
// string, and strings that are nothing but a name of the public DNS.
func hostsIn(v json.RawMessage) (out []string) {
	add := func(h string) {
		if h = strings.ToLower(h); h != "" && len(h) <= 253 && len(out) < maxHosts && !slices.Contains(out, h) {
			out = append(out, h)
		}
	}
	eachString(v, func(key, s string) {
		for _, h := range urlHosts(s) {
			add(h)
		}
		if isBareHost(key, s) {
			add(strings.TrimSpace(s))
		}
	})
	return out
}

// eachString calls f with each string of a value and the key that it stands under.
func eachString(v json.RawMessage, f func(key, s string)) {
	key := ""
	wire.Texts(v, func(below [][]byte, quoted []byte, isName bool) {
		if isName {
			return
		}
		under := ""
		if len(below) > 0 {
			if last := below[len(below)-1]; string(last) != key {
				key = string(last)
			}
			under = key
		}
		if s, ok := wire.Text(quoted); ok {
			f(under, s)
		}
	})
}

// urlHosts are the hosts of http, https, ws and wss addresses in a text.
func urlHosts(s string) (out []string) {
	for {
		i := strings.Index(s, "://")
		if i < 0 || len(out) >= maxHosts {
			return out
		}
		scheme := s[:i]
		s = s[i+3:]
		known := false
		for _, k := range []string{"http", "https", "ws", "wss"} {
			known = known || len(scheme) >= len(k) && strings.EqualFold(scheme[len(scheme)-len(k):], k)
		}
		if !known {
			continue
		}
		// What stands before an @ is no host but who asks.
		authority := s[:strings.IndexFunc(s+"/", func(r rune) bool { return strings.ContainsRune("/?#\"'<>\\ \t\r\n", r) })]
		authority = authority[strings.LastIndexByte(authority, '@')+1:]
		end := 0
		for end < len(authority) && (isHostByte(authority[end])) {
			end++
		}
		if h := strings.TrimRight(authority[:end], "."); h != "" {
			out = append(out, h)
		}
	}
}

func isHostByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '-'
}

// hostKeys are parts of names under which a bare name is surely a host.
var hostKeys = []string{"host", "domain", "server", "endpoint", "url", "uri", "site", "address"}

// fileLike are public suffixes that end names of files more often than of hosts.
var fileLike = map[string]bool{
	"py": true, "md": true, "sh": true, "rs": true, "pl": true, "ps": true, "cc": true, "mk": true, "so": true, "zip": true, "mov": true, "app": true,
	"am": true, "as": true, "ml": true, "mm": true, "ms": true, "pm": true, "tf": true, "in": true, "id": true, "st": true, "im": true, "ai": true,
	"cfg": true, "java": true, "js": true, "name": true, "map": true, "run": true, "sc": true, "tc": true, "fm": true, "la": true, "pub": true, "bz": true, "gz": true, "br": true, "ps1": true,
}

// isBareHost tells "api.example.com" from "notes.md": a name of the public DNS
// whose ending is no file's, or anything of that form under a key that says host.
func isBareHost(key, s string) bool {
	s = strings.ToLower(strings.TrimSpace(s))
	dot := strings.LastIndexByte(s, '.')
	if dot < 1 || len(s) > 253 || len(s)-dot-1 < 2 || strings.Trim(s[dot+1:], "abcdefghijklmnopqrstuvwxyz") != "" {
		return false
	}
	for i := range len(s) {
		if !isHostByte(s[i]) {
			return false
		}
	}
	if strings.Contains(s, "..") || s[0] == '.' || s[0] == '-' {
		return false
	}
	key = strings.ToLower(key)
	if slices.ContainsFunc(hostKeys, func(k string) bool { return strings.Contains(key, k) }) {
		return true
	}
	suffix, icann := publicsuffix.PublicSuffix(s)
	return icann && suffix != s && !fileLike[s[dot+1:]]
}

// Clouds whose presence alone proves nothing.
var (
	trustedHosts   = []string{"localhost", "127.0.0.1", "::1", "0.0.0.0"}
	trustedDomains = []string{"amazonaws.com", "cloudfront.net", "googleapis.com", "googleusercontent.com", "azure.com", "azurewebsites.net", "windows.net",
		"cloudflare.com", "fastly.net", "akamai.net", "openai.com", "anthropic.com", "modelcontextprotocol.io"}
)

func isTrusted(host string) bool {
	if slices.Contains(trustedHosts, host) {
		return true
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return a.IsLoopback()
	}
	return slices.ContainsFunc(trustedDomains, func(d string) bool { return host == d || strings.HasSuffix(host, "."+d) })
}
