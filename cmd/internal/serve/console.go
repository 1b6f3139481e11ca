package serve

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"errors"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/drift"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// The bounds of the pages.
const (
	perPage    = 20
	maxListLog = 8 << 20 // a larger log is judged only where its own page is asked for
	maxJudging = 2       // logs under judgement at once
	refresh    = 10      // seconds between two looks at the list
)

//go:embed console.html.tmpl
var consoleTemplate string

var consolePage = template.Must(template.New("console").Funcs(template.FuncMap{
	"say":  func(s string) string { return report.Escape(s, 300) },
	"plus": func(page, by int) int { return page + by },
}).Parse(consoleTemplate))

// Console is the pages over one directory's logs. Its Handler may be used by many
// goroutines.
type Console struct {
	handlers
	addr    netip.AddrPort
	secret  string
	judging chan struct{}
}

// ErrNotLoopback is wrapped where pages were asked for on an address that others reach.
var ErrNotLoopback = errors.New("not an address of loopback")

// Listen opens a loopback address, such as 127.0.0.1:0, for the pages.
func Listen(ctx context.Context, address string, o Options) (*Console, net.Listener, error) {
	asked, err := netip.ParseAddrPort(strings.Replace(address, "localhost:", "127.0.0.1:", 1))
	if err != nil || !asked.Addr().IsLoopback() {
		return nil, nil, fmt.Errorf("%.60q: %w", address, ErrNotLoopback)
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", asked.String())
	if err != nil {
		return nil, nil, fmt.Errorf("listen for the pages: %w", err)
	}
	addr := l.Addr().(*net.TCPAddr).AddrPort()
	c := &Console{handlers: handlers{o}, addr: netip.AddrPortFrom(addr.Addr().Unmap(), addr.Port()), secret: rand.Text(), judging: make(chan struct{}, maxJudging)}
	return c, l, nil
}

// URL is where the pages are. Its path is a secret: another user of the machine
// reaches loopback too, and may not read the logs.
func (c *Console) URL() string { return "http://" + c.addr.String() + "/" + c.secret + "/" }

// Serve answers until ctx ends.
func (c *Console) Serve(ctx context.Context, l net.Listener) error {
	s := &http.Server{Handler: c, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 2 * time.Minute, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10,
		BaseContext: func(net.Listener) context.Context { return ctx }}
	stopped := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(stopped)
		_ = s.Close()
	})
	err := s.Serve(l)
	if !stop() {
		<-stopped
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve the pages: %w", err)
}

// ServeHTTP answers GET below the secret path, and nothing else.
func (c *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	for name, value := range map[string]string{"Cache-Control": "no-store", "Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff",
		"X-Frame-Options": "DENY", "Cross-Origin-Resource-Policy": "same-origin", "Content-Security-Policy": contentPolicy} {
		h.Set(name, value)
	}
	// A name that an attacker's DNS leads here (rebinding) is another host.
	if r.Host != c.addr.String() && r.Host != "localhost:"+strconv.Itoa(int(c.addr.Port())) {
		http.Error(w, "coalmine answers on its own address only", http.StatusMisdirectedRequest)
		return
	}
	secret, page, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	if subtle.ConstantTimeCompare([]byte(secret), []byte(c.secret)) != 1 {
		http.Error(w, "not found: open the whole address that coalmine printed", http.StatusNotFound)
		return
	}
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "these pages only show", http.StatusMethodNotAllowed)
		return
	}
	show, ok := map[string]func(*http.Request) (*answer, error){"": c.index, "log": c.log, "drift": c.watch}[page]
	if !ok {
		http.Error(w, "there is no such page", http.StatusNotFound)
		return
	}
	a, err := show(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	h.Set("Content-Type", a.mime)
	if a.refresh > 0 {
		h.Set("Refresh", strconv.Itoa(a.refresh))
	}
	_, _ = w.Write(a.body.Bytes())
}

// contentPolicy forbids scripts and whatever would be loaded. A report's own policy narrows it further.
const contentPolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// answer is one page.
type answer struct {
	mime    string
	refresh int
	body    bytes.Buffer
}

const htmlType = "text/html; charset=utf-8"

// view is what the template shows.
type view struct {
	Title      string
	Rows       []row
	From, All  int
	Page, Last int // numbers of pages, from 0
	Drift      []driftRow
	Unread     []string
	ShowsDrift bool
}

// row is one log of the list.
type row struct {
	Log, Server  string
	Verdict      detect.Verdict
	Frames       int
	Declared     int
	Called       int
	Observations int
	Gaps         int
	Worst        string
	Note         string // why it was not judged
}

func (v *view) page() (*answer, error) {
	a := &answer{mime: htmlType}
	if err := consolePage.Execute(&a.body, v); err != nil {
		return nil, errors.New("the page could not be written")
	}
	return a, nil
}

// index lists the logs, those with the newest name first, and looks again by itself.
func (c *Console) index(r *http.Request) (*answer, error) {
	logs, err := drift.Logs(c.Root)
	if err != nil {
		return nil, errors.New("the directory cannot be listed")
	}
	slices.Sort(logs)
	slices.Reverse(logs)
	last := max(len(logs)-1, 0) / perPage
	asked, _ := strconv.Atoi(r.URL.Query().Get("page"))
	page := min(max(asked, 0), last)
	from := page * perPage
	to := min(from+perPage, len(logs))
	v := &view{Title: "Session logs", From: from + 1, All: len(logs), Page: page, Last: last}
	for _, name := range logs[from:to] {
		v.Rows = append(v.Rows, c.row(r.Context(), name))
	}
	a, err := v.page()
	if err == nil {
		a.refresh = refresh
	}
	return a, err
}

func (c *Console) row(ctx context.Context, name string) row {
	out := row{Log: name}
	defer c.turn(ctx)()
	l, err := c.read(ctx, name, maxListLog)
	if err != nil {
		out.Note = err.Error()
		return out
	}
	out.Server, out.Verdict, out.Frames = l.State.Server.Name, l.Verdict(), l.Stats.Frames
	out.Declared, out.Called = len(l.Summary.DeclaredTools), len(l.Summary.CalledTools)
	out.Observations, out.Gaps = len(l.Annotations), len(l.Gaps())
	worst := 0
	for i := range l.Annotations {
		if a := &l.Annotations[i]; a.Severity > worst {
			worst, out.Worst = a.Severity, a.Subcategory
		}
	}
	return out
}

// turn waits for the right to judge, and returns what gives it back.
func (c *Console) turn(ctx context.Context) func() {
	select {
	case c.judging <- struct{}{}:
		return func() { <-c.judging }
	case <-ctx.Done():
		return func() {}
	}
}

// log is the report on one log, in the format asked for. Of a probe's directory it judges all runs.
func (c *Console) log(r *http.Request) (*answer, error) {
	name := r.URL.Query().Get("name")
	defer c.turn(r.Context())()
	res, err := c.judge(r.Context(), name)
	if err != nil {
		return nil, err
	}
	a := &answer{mime: htmlType}
	switch format := r.URL.Query().Get("format"); format {
	case "", "html":
		err = report.HTML(&a.body, res, report.HTMLOptions{})
	case "json":
		a.mime, err = "application/json", report.JSON(&a.body, res)
	case "sarif":
		a.mime, err = "application/json", report.SARIF(&a.body, res, report.SARIFOptions{Default: report.At(name)})
	case "markdown":
		a.mime, err = "text/plain; charset=utf-8", report.Markdown(&a.body, res)
	default:
		return nil, errors.New("the format is one of html, json, sarif, markdown")
	}
	if err != nil {
		return nil, errors.New("the report could not be written")
	}
	return a, nil
}

func (c *Console) judge(ctx context.Context, name string) (*analyze.Result, error) {
	if dir, ok := strings.CutSuffix(name, "/"+session.FramesFile); ok {
		if info, err := c.Root.Lstat(dir + "/" + session.IndexFile); err == nil && info.Mode().IsRegular() {
			return c.judgeRun(dir)
		}
	}
	f, err := c.openLog(name, maxLog)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	res, l, err := analyze.JudgeLog(cancelled{ctx, f}, name, analyze.LogOptions{Options: c.Detect, Path: name, Version: c.Version})
	if err != nil {
		return nil, errCutOff
	}
	if l.Stats.Events == 0 {
		return nil, errNoFrame
	}
	return res, nil
}

func (c *Console) judgeRun(dir string) (*analyze.Result, error) {
	root, err := c.Root.OpenRoot(dir)
	if err != nil {
		return nil, errors.New("there is no such run in the served directory")
	}
	defer root.Close()
	res, _, err := analyze.Judge(root, c.Version)
	if err != nil {
		return nil, errors.New("the run cannot be judged: its directory is damaged")
	}
	return res, nil
}

// driftRow is one change from earlier sessions of the same server.
type driftRow struct {
	Server, Log, Kind, Explanation string
	Severity                       int
}

// watch compares each server's sessions over time.
func (c *Console) watch(r *http.Request) (*answer, error) {
	defer c.turn(r.Context())()
	history, err := drift.Watch(c.Root)
	if err != nil {
		return nil, errors.New("the logs could not be compared")
	}
	v := &view{Title: "Drift", ShowsDrift: true, Unread: history.Unread}
	for server, sessions := range history.Servers {
		for _, s := range sessions {
			for i := range s.Findings {
				f := &s.Findings[i]
				v.Drift = append(v.Drift, driftRow{server, s.Source, f.Kind, f.Explanation, f.Severity})
			}
		}
	}
	slices.SortFunc(v.Drift, func(a, b driftRow) int {
		if a.Log != b.Log {
			return strings.Compare(b.Log, a.Log)
		}
		return b.Severity - a.Severity
	})
	v.All = len(v.Drift)
	v.Drift = v.Drift[:min(len(v.Drift), maxFindings)]
	return v.page()
}
