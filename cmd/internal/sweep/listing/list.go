package listing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/config"
)

// The bounds on a list.
const (
	maxPages   = 5000
	maxTargets = 500_000
	maxRefused = 200
	maxFile    = 64 << 20
)

// List is what a source names.
type List struct {
	Targets []Target
	// Deleted are names that the registry says are gone.
	Deleted []string
	// Refused says which entries were not taken, and why; More counts those beyond a bound.
	Refused []string
	More    int
	// Incomplete says why the list ends before the registry's does, "" where it does not.
	Incomplete string
	// Pages counts what was asked for.
	Pages int
}

func (l *List) refuse(name, why string) {
	if len(l.Refused) >= maxRefused {
		l.More++
		return
	}
	if len(name) > 80 {
		name = name[:80] + "…"
	}
	l.Refused = append(l.Refused, fmt.Sprintf("%q: %s", name, why))
}

func (l *List) add(t Target) {
	if err := t.check(); err != nil {
		l.refuse(t.Name, err.Error())
		return
	}
	l.Targets = append(l.Targets, t)
}

// Options say how a list is made.
type Options struct {
	// Since leaves out of an MCP registry's list what was not updated since, the zero time
	// for nothing.
	Since time.Time
	// Pause is the least time between two requests.
	Pause time.Duration
	// Cache is a directory that keeps pages, so that a registry need not send them again while
	// they do not change; "" is for none.
	Cache string
	// Hash is that of the files that a command of the user's own file names, "" where they
	// cannot be told; nil for never.
	Hash func(words []string) string
	// wait replaces the wait between tries, for tests.
	wait func(context.Context, time.Duration) error
}

// Read lists a source: the URL of an MCP registry (v0.1), npm:KEYWORD for npm's search, or
// a file. A list that breaks off is no error: it says so in Incomplete.
func Read(ctx context.Context, source string, o Options) (*List, error) {
	if word, ok := strings.CutPrefix(source, "npm:"); ok {
		return npm(ctx, "https://registry.npmjs.org", word, o)
	}
	if isAddress(source) {
		return registry(ctx, source, o)
	}
	return file(source, o)
}

func isAddress(source string) bool {
	return strings.HasPrefix(source, "http://") || strings.HasPrefix(source, "https://")
}

// Check reports whether a source can be one: a file has to be there. Nothing is asked.
func Check(source string) error {
	if strings.HasPrefix(source, "npm:") || isAddress(source) {
		return nil
	}
	if _, err := os.Stat(source); err != nil {
		return fmt.Errorf("there is no list %s", source)
	}
	return nil
}

// connected calls list with a client for an address of the user's, and the cache of a source.
func connected(address, source string, o Options, list func(c *client, u *url.URL) (*List, error)) (l *List, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil, errors.New("the registry's address is invalid")
	}
	c := newClient(u, o.Pause)
	if o.wait != nil {
		c.wait = o.wait
	}
	if o.Since.IsZero() { // the address of a list of what changed does not come again
		if c.cache, err = openCache(o.Cache, source); err != nil {
			return nil, fmt.Errorf("keep the registry's pages: %w", err)
		}
		defer func() { err = errors.Join(err, c.cache.close(err == nil && l.Incomplete == "")) }()
	}
	return list(c, u)
}

// page is a page of an MCP registry, in the form v0.1:
// https://registry.modelcontextprotocol.io/docs.
type page struct {
	Servers  []json.RawMessage `json:"servers"`
	Metadata struct {
		NextCursor string `json:"nextCursor"`
	} `json:"metadata"`
}

// listed is one entry of a page.
type listed struct {
	Server json.RawMessage `json:"server"`
	Meta   struct {
		Official struct {
			Status   string `json:"status"`
			IsLatest *bool  `json:"isLatest"`
		} `json:"io.modelcontextprotocol.registry/official"`
	} `json:"_meta"`
}

// take takes the entries of a page; one that cannot be read hides no other.
func (l *List) take(entries []json.RawMessage) {
	for _, raw := range entries {
		var e listed
		if json.Unmarshal(raw, &e) != nil {
			l.refuse("", "an entry is not that of a registry")
			continue
		}
		l.entry(e.Server, e.Meta.Official.Status, e.Meta.Official.IsLatest)
	}
}

// registry reads an MCP registry page by page.
func registry(ctx context.Context, address string, o Options) (*List, error) {
	return connected(address, address, o, func(c *client, base *url.URL) (*List, error) { return registryPages(ctx, c, base, o) })
}

func registryPages(ctx context.Context, c *client, base *url.URL, o Options) (*List, error) {
	if !strings.HasSuffix(base.Path, "/servers") {
		if !strings.Contains(base.Path, "/v0") {
			base.Path = path.Join(base.Path, "v0.1")
		}
		base.Path = "/" + strings.TrimPrefix(path.Join(base.Path, "servers"), "/")
	}
	query := base.Query()
	query.Set("limit", "100")
	query.Set("version", "latest")
	if !o.Since.IsZero() {
		query.Set("updated_since", o.Since.UTC().Format(time.RFC3339))
		query.Set("include_deleted", "true")
	}
	l := &List{}
	seen := map[string]bool{"": true}
	for {
		base.RawQuery = query.Encode()
		data, err := c.get(ctx, base.String())
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var p page
		if err == nil {
			if json.Unmarshal(data, &p) != nil {
				err = errors.New("a page is not a JSON answer of a registry")
			}
		}
		if err != nil {
			return l.broken(err)
		}
		l.Pages++
		l.take(p.Servers)
		next := p.Metadata.NextCursor
		switch {
		case next == "":
			return l, nil
		case seen[next]:
			l.Incomplete = "the registry repeats a cursor: its pages have no end"
		case l.Pages >= maxPages || len(l.Targets) > maxTargets:
			l.Incomplete = fmt.Sprintf("the registry has more than %d pages or %d servers", maxPages, maxTargets)
		case len(next) > 4096:
			l.Incomplete = "the registry's cursor is longer than 4096 bytes"
		}
		if l.Incomplete != "" {
			return l, nil
		}
		seen[next] = true
		query.Set("cursor", next)
	}
}

// broken ends a list at an error: the first page's is the caller's.
func (l *List) broken(err error) (*List, error) {
	if l.Pages == 0 {
		return nil, err
	}
	l.Incomplete = fmt.Sprintf("after %d pages: %v", l.Pages, err)
	return l, nil
}

// entry takes one server of a registry.
func (l *List) entry(raw json.RawMessage, status string, latest *bool) {
	var head struct {
		Name     string `json:"name"`
		Packages []struct {
			Hash string `json:"fileSha256"`
		} `json:"packages"`
	}
	if json.Unmarshal(raw, &head) != nil || head.Name == "" {
		l.refuse("", "an entry has no name")
		return
	}
	switch {
	case checkName(head.Name) != nil:
		l.refuse(head.Name, checkName(head.Name).Error())
		return
	case status == "deleted":
		l.Deleted = append(l.Deleted, head.Name)
		return
	case latest != nil && !*latest:
		return
	}
	servers, errs := config.Parse("server.json", raw)
	for _, err := range errs {
		if !errors.Is(err, config.ErrNoServers) {
			l.refuse(head.Name, err.Error())
		}
	}
	if len(servers)+len(errs) == 0 || len(servers) == 0 && errors.Is(errors.Join(errs...), config.ErrNoServers) {
		l.refuse(head.Name, "it names no package")
	}
	for _, s := range servers {
		t, why := ofServer(s)
		if why != "" {
			l.refuse(s.Name, why)
			continue
		}
		if len(head.Packages) == 1 {
			t.Hash = head.Packages[0].Hash
		}
		l.add(t)
	}
}

// npm reads npm's search for a keyword.
func npm(ctx context.Context, base, keyword string, o Options) (*List, error) {
	o.Since = time.Time{} // its search knows no date, and a kept page saves more
	return connected(base, base+" "+keyword, o, func(c *client, u *url.URL) (*List, error) { return npmPages(ctx, c, u, keyword) })
}

func npmPages(ctx context.Context, c *client, u *url.URL, keyword string) (*List, error) {
	u.Path = path.Join("/", u.Path, "-/v1/search")
	l := &List{}
	const size = 250
	for from := 0; ; from += size {
		u.RawQuery = url.Values{"text": {"keywords:" + keyword}, "size": {strconv.Itoa(size)}, "from": {strconv.Itoa(from)}}.Encode()
		data, err := c.get(ctx, u.String())
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		var p struct {
			Objects []struct {
				Package struct{ Name, Version string }
			}
			Total int
		}
		if err == nil && json.Unmarshal(data, &p) != nil {
			err = errors.New("npm's search answers in a form that is not known")
		}
		if err != nil {
			return l.broken(err)
		}
		l.Pages++
		for _, o := range p.Objects {
			full := o.Package.Name + "@" + o.Package.Version
			l.add(Target{Key: "npm:" + o.Package.Name, Name: o.Package.Name, Version: o.Package.Version, Words: []string{"npm:" + full}, Mutable: o.Package.Version == ""})
		}
		switch {
		case len(p.Objects) < size || from+size >= p.Total:
			return l, nil
		case l.Pages >= maxPages:
			l.Incomplete = fmt.Sprintf("npm has more than %d pages", maxPages)
			return l, nil
		}
	}
}

// file reads targets from a file: lines of words, a client's configuration, or a page of a
// registry.
func file(name string, o Options) (*List, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d bytes", name, maxFile)
	}
	l := &List{Pages: 1}
	if text := strings.TrimSpace(string(data)); !strings.HasPrefix(text, "{") {
		for line := range strings.Lines(text) {
			l.line(strings.TrimSpace(line), o)
		}
		return l, nil
	}
	var p page
	if json.Unmarshal(data, &p) == nil && len(p.Servers) > 0 {
		l.take(p.Servers)
		return l, nil
	}
	servers, errs := config.Parse(name, data)
	if len(servers) == 0 {
		return nil, errors.Join(errs...)
	}
	for _, err := range errs {
		l.refuse(name, err.Error())
	}
	for _, s := range servers {
		if t, why := ofServer(s); why != "" {
			l.refuse(s.Name, why)
		} else {
			l.add(o.hashed(t))
		}
	}
	return l, nil
}

// hashed adds to a command of the user's own what its files are.
func (o *Options) hashed(t Target) Target {
	if o.Hash != nil && strings.HasPrefix(t.Key, "command:") {
		t.Hash = o.Hash(t.Words)
		t.Mutable = t.Hash == ""
	}
	return t
}

// line takes one line of a file: words, as coalmine probe takes them.
func (l *List) line(line string, o Options) {
	words := strings.Fields(line)
	if len(words) == 0 || strings.HasPrefix(line, "#") {
		return
	}
	kind, name, ok := strings.Cut(words[0], ":")
	switch k := config.Kind(kind); {
	case ok && (k == config.KindNPM || k == config.KindPyPI || k == config.KindOCI):
		base, version := splitVersion(k, name)
		l.add(Target{Key: kind + ":" + base, Name: base, Version: version, Words: words, Mutable: version == "" || k == config.KindOCI && !strings.HasPrefix(version, "sha256:")})
	default:
		t, _ := ofServer(config.Server{Name: words[len(words)-1], Command: words})
		l.add(o.hashed(t))
	}
}
