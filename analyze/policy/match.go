package policy

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Places are the directories that a path of a policy can begin with, so that
// the same file serves every run: "~" the home, "$SERVER" the server's own
// directory, "$WORKSPACE" each directory that the command names.
type Places struct {
	Home, Server string
	Workspaces   []string
}

// The words that begin a path.
const (
	homeWord      = "~"
	serverWord    = "$SERVER"
	workspaceWord = "$WORKSPACE"
)

// readPrefix limits a file's entry to reading.
const readPrefix = "read:"

// File returns the item that names a path, nil for none. An item that begins
// with "read:" is for reading only. "*" and "?" stand for characters within a
// path's element, "**" at the end for everything below.
func (l List) File(at Places, name string, write bool) *Item {
	return l.find(func(s string) bool {
		s, readOnly := strings.CutPrefix(s, readPrefix)
		if readOnly && write {
			return false
		}
		for _, pattern := range at.expand(s) {
			if matchPath(pattern, name) {
				return true
			}
		}
		return false
	})
}

// DeniedFile returns the item by which the policy denies a tool, "" for what happens outside calls, the use of
// a file, nil for none.
func (p *Policy) DeniedFile(at Places, tool, name string, write bool) *Item {
	for _, l := range p.Denied(tool) {
		if it := l.Files.File(at, name, write); it != nil {
			return it
		}
	}
	return nil
}

// Denied are the lists of what the policy denies a tool, "" for what happens outside calls: its own first, and
// the server's, which adds to it.
func (p *Policy) Denied(tool string) []Lists {
	if p == nil {
		return nil
	}
	if entry, ok := p.Tools[tool]; ok && tool != "" {
		return []Lists{entry.Deny, p.Server.Deny}
	}
	return []Lists{p.Server.Deny}
}

// DeniesFiles reports whether the policy denies any file to anybody.
func (p *Policy) DeniesFiles() bool {
	if p == nil {
		return false
	}
	for _, entry := range p.Tools {
		if len(entry.Deny.Files) > 0 {
			return true
		}
	}
	return len(p.Server.Deny.Files) > 0
}

// Host returns the item that names a peer, "host:port" or a bare host. An item
// without a port is for all ports; "*.example.com" is for every name below it.
func (l List) Host(peer string) *Item {
	host, port := splitHost(peer)
	return l.find(func(s string) bool {
		wantHost, wantPort := splitHost(s)
		return (wantPort == "" || wantPort == port) && matchHost(wantHost, host)
	})
}

// Command returns the item that names a program: its path, with the wildcards
// of File, or its last element alone.
func (l List) Command(at Places, program string) *Item {
	return l.find(func(s string) bool {
		if !strings.Contains(s, "/") {
			ok, err := path.Match(s, path.Base(program))
			return ok && err == nil
		}
		for _, pattern := range at.expand(s) {
			if matchPath(pattern, program) {
				return true
			}
		}
		return false
	})
}

// Environment returns the item that names a variable; "*" and "?" stand for characters.
func (l List) Environment(name string) *Item {
	return l.find(func(s string) bool {
		ok, err := path.Match(s, name)
		return ok && err == nil
	})
}

func (l List) find(match func(string) bool) *Item {
	for i := range l {
		if match(l[i].Text) {
			return &l[i]
		}
	}
	return nil
}

// expand writes out a path's first word; a workspace may be several.
func (at Places) expand(p string) []string {
	word, rest, _ := strings.Cut(p, "/")
	if rest != "" {
		rest = "/" + rest
	}
	var roots []string
	switch word {
	case homeWord:
		roots = []string{at.Home}
	case serverWord:
		roots = []string{at.Server}
	case workspaceWord:
		roots = at.Workspaces
	default:
		return []string{p}
	}
	var out []string
	for _, root := range roots {
		if root != "" {
			out = append(out, escapeGlob(strings.TrimSuffix(root, "/"))+rest)
		}
	}
	return out
}

// Contract is the way back: a path as a policy would write it.
func (at Places) Contract(name string) string {
	word, rest := at.cut(name)
	return word + escapeGlob(rest)
}

// Name is a path with its place's word, and nothing in it escaped.
func (at Places) Name(name string) string {
	word, rest := at.cut(name)
	return word + rest
}

// cut parts a path into its place's word and what is below, or "" and all of it.
func (at Places) cut(name string) (word, rest string) {
	type place struct{ root, word string }
	places := []place{}
	for _, w := range at.Workspaces {
		places = append(places, place{w, workspaceWord})
	}
	for _, p := range append(places, place{at.Server, serverWord}, place{at.Home, homeWord}) {
		if p.root != "" && p.root != "/" && below(name, p.root) {
			return p.word, name[len(strings.TrimSuffix(p.root, "/")):]
		}
	}
	return "", name
}

func below(name, dir string) bool {
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}

// escapeGlob makes a text stand for itself, but for what a file can not hold:
// that becomes "?".
func escapeGlob(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == utf8.RuneError || r < ' ' || r == 0x7f:
			r = '?'
		case strings.ContainsRune(`\*?[`, r):
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

func matchPath(pattern, name string) bool {
	if dir, ok := strings.CutSuffix(pattern, "/**"); ok {
		for p := name; ; p = path.Dir(p) {
			if ok, err := path.Match(dir, p); ok && err == nil {
				return true
			}
			if p == path.Dir(p) {
				return dir == ""
			}
		}
	}
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

// splitHost cuts a port off; an address of IPv6 with a port stands in brackets.
func splitHost(s string) (host, port string) {
	if a, err := netip.ParseAddrPort(s); err == nil {
		return a.Addr().Unmap().String(), strconv.Itoa(int(a.Port()))
	}
	if a, err := netip.ParseAddr(strings.Trim(s, "[]")); err == nil {
		return a.Unmap().String(), ""
	}
	if i := strings.LastIndexByte(s, ':'); i >= 0 {
		if _, err := strconv.ParseUint(s[i+1:], 10, 16); err == nil {
			host, port = s[:i], s[i+1:]
			return strings.TrimSuffix(strings.ToLower(host), "."), port
		}
	}
	return strings.TrimSuffix(strings.ToLower(s), "."), ""
}

func matchHost(pattern, host string) bool {
	if pattern == "*" {
		return true
	}
	if suffix, ok := strings.CutPrefix(pattern, "*."); ok {
		return len(host) > len(suffix)+1 && strings.HasSuffix(host, "."+suffix)
	}
	return pattern == host
}

var errControl = errors.New("holds a control character")

func printable(s string) error {
	if strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return errControl
	}
	return nil
}

func checkFile(s string) error {
	s = strings.TrimPrefix(s, readPrefix)
	word, _, _ := strings.Cut(s, "/")
	if word != "" && word != homeWord && word != serverWord && word != workspaceWord {
		return fmt.Errorf("must begin with /, %s/, %s/ or %s/", homeWord, serverWord, workspaceWord)
	}
	if i := strings.Index(s, "**"); i >= 0 && i != len(s)-2 || strings.HasSuffix(s, "**") && !strings.HasSuffix(s, "/**") {
		return errors.New("has ** elsewhere than as its last element")
	}
	if path.Clean(s) != strings.TrimSuffix(s, "/") && s != "/" {
		return errors.New("is not a clean path")
	}
	if _, err := path.Match(s, ""); err != nil {
		return err
	}
	return printable(s)
}

func checkHost(s string) error {
	host, _ := splitHost(s)
	switch {
	case host == "":
		return errors.New("names no host")
	case strings.ContainsAny(host, "/@ ") || strings.Contains(s, "://"):
		return errors.New("must be a host, or host:port, and no URL")
	case strings.Contains(strings.TrimPrefix(host, "*."), "*") && host != "*":
		return errors.New("may have * only as its first label")
	}
	return printable(s)
}

func checkCommand(s string) error {
	if strings.Contains(s, "/") {
		if strings.HasPrefix(s, readPrefix) {
			return errors.New("is a program, and not read")
		}
		return checkFile(s)
	}
	if _, err := path.Match(s, ""); err != nil {
		return err
	}
	return printable(s)
}

func checkEnv(s string) error {
	if strings.ContainsAny(s, "= $/") {
		return errors.New("must be the name of a variable")
	}
	if _, err := path.Match(s, ""); err != nil {
		return err
	}
	return printable(s)
}

// checkRuleFile accepts a path that stays below the policy's directory.
func checkRuleFile(s string) error {
	switch {
	case !fs.ValidPath(s) || strings.Contains(s, `\`):
		return errors.New("must be a clean path below the policy's directory")
	case path.Ext(s) != ".yaml" && path.Ext(s) != ".yml":
		return errors.New("is not a file of rules: its name must end in .yaml or .yml")
	}
	return printable(s)
}
