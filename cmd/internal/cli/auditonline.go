package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/audit"
	"github.com/coalmine-dev/coalmine/audit/online"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/install"
)

// Bounds of the questions to public services: an answer in bytes, one question and all of them in
// time. Of the cache: the age of an answer, and the bytes and number of its files.
const (
	maxAnswer    = 32 << 20
	questionTime = 30 * time.Second
	onlineTime   = 3 * time.Minute
	answerAge    = 24 * time.Hour
	maxCached    = 128 << 20
	maxAnswers   = 4_000
)

// askOnline adds what public services say of the audited package and of what it locks.
func (e *env) askOnline(ctx context.Context, f *auditFlags, target string, r *audit.Report) error {
	ctx, cancel := context.WithTimeout(ctx, onlineTime)
	defer cancel()
	s := online.Subject{Package: packageOf(target, r), Repository: r.Repository, Locked: r.Packages, Now: time.Now(), Recent: time.Duration(f.recent) * 24 * time.Hour}
	asker, err := newAsker()
	if err != nil {
		return err
	}
	found, err := online.Check(ctx, asker, s)
	if err != nil {
		return fmt.Errorf("ask public services about the package: %w", err)
	}
	if asker.failed != nil {
		fmt.Fprintf(e.err, "warning: --online: not every question was answered: %s\nhint: check the network and HTTPS_PROXY; answers are kept for a day\n", report.Escape(asker.failed.Error(), 300))
	}
	r.Findings = append(r.Findings, found...)
	slices.SortStableFunc(r.Findings, func(a, b finding.Finding) int { return b.Severity.Rank() - a.Severity.Rank() })
	return nil
}

// packageOf is the published package that a target names, or that its manifest does.
func packageOf(target string, r *audit.Report) audit.LockedPackage {
	out := audit.LockedPackage{Name: r.Profile.PackageName, Version: r.Profile.Version, Ecosystem: map[string]string{"node": audit.NPM, "python": audit.PyPI}[r.Profile.Runtime]}
	if _, isPackage, _ := install.Prefixed(target); !isPackage {
		return out
	}
	// The registry says what was fetched, whatever the archive's manifests say.
	switch spec, _, err := install.Prefixed(r.Profile.Path); {
	case err != nil:
	case spec.Kind == install.KindPyPI:
		name, _, _ := strings.Cut(spec.Name, "[")
		out = audit.LockedPackage{Ecosystem: audit.PyPI, Name: normalized(name), Version: spec.Version}
	case spec.Kind == install.KindNPM:
		out = audit.LockedPackage{Ecosystem: audit.NPM, Name: spec.Name, Version: spec.Version}
	}
	return out
}

// webAsker asks over HTTPS, and keeps answers on the disk.
type webAsker struct {
	http   *http.Client
	cache  *os.Root
	failed error
}

// newAsker opens the cache, which is "online" in the user's directory for caches.
func newAsker() (*webAsker, error) {
	base, err := os.UserCacheDir()
	if err != nil {
		return nil, &sandbox.UsageError{Err: fmt.Errorf("find the cache of answers: %w", err), Hint: "set XDG_CACHE_HOME, or HOME"}
	}
	dir := filepath.Join(base, "coalmine", "online")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, &sandbox.UsageError{Err: fmt.Errorf("make the cache of answers: %w", err), Hint: "make it writable, or set XDG_CACHE_HOME"}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("open the cache of answers: %w", err)
	}
	return &webAsker{cache: root, http: &http.Client{Timeout: questionTime, CheckRedirect: sameHost}}, nil
}

// sameHost keeps an answer from leading elsewhere.
func sameHost(req *http.Request, via []*http.Request) error {
	if len(via) > 3 || req.URL.Scheme != "https" || req.URL.Host != via[0].URL.Host {
		return errors.New("the service leads to another host")
	}
	return nil
}

// Ask answers from the cache, or over the network.
func (w *webAsker) Ask(ctx context.Context, q online.Question) (online.Answer, error) {
	sum := sha256.Sum256([]byte(q.URL + "\x00" + q.Accept + "\x00" + string(q.Body)))
	name := hex.EncodeToString(sum[:]) + ".json"
	if a, ok := w.cached(name); ok {
		return a, nil
	}
	a, err := w.fetch(ctx, q)
	if err != nil {
		if w.failed == nil {
			w.failed = err
		}
		return a, err
	}
	if a.Status == http.StatusOK || a.Status == http.StatusNotFound {
		w.keep(name, a)
	}
	return a, nil
}

func (w *webAsker) fetch(ctx context.Context, q online.Question) (online.Answer, error) {
	method := http.MethodGet
	if q.Body != nil {
		method = http.MethodPost
	}
	req, err := http.NewRequestWithContext(ctx, method, q.URL, bytes.NewReader(q.Body))
	if err != nil {
		return online.Answer{}, fmt.Errorf("ask a service: %w", err)
	}
	req.Header.Set("Accept", q.Accept)
	req.Header.Set("User-Agent", "coalmine/"+version())
	if q.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	res, err := w.http.Do(req)
	if err != nil {
		return online.Answer{}, fmt.Errorf("ask %s: %w", req.URL.Host, err)
	}
	defer func() { _ = res.Body.Close() }() // it was read
	data, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return online.Answer{}, fmt.Errorf("read the answer of %s: %w", req.URL.Host, err)
	}
	if len(data) > maxAnswer {
		return online.Answer{}, fmt.Errorf("the answer of %s has more than %d bytes", req.URL.Host, maxAnswer)
	}
	return online.Answer{Status: res.StatusCode, Body: data}, nil
}

// cached is an answer that is not too old. Its file may be anything.
func (w *webAsker) cached(name string) (a online.Answer, ok bool) {
	info, err := w.cache.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 2*maxAnswer || time.Since(info.ModTime()) > answerAge {
		return a, false
	}
	data, err := w.cache.ReadFile(name)
	return a, err == nil && json.Unmarshal(data, &a) == nil && a.Status != 0
}

// keep keeps an answer. A cache that cannot be written costs time, and nothing else.
func (w *webAsker) keep(name string, a online.Answer) {
	data, err := json.Marshal(a)
	if err != nil {
		return
	}
	w.makeRoom(int64(len(data)))
	if w.cache.WriteFile(name+".new", data, 0o600) == nil {
		_ = w.cache.Rename(name+".new", name)
	}
}

// makeRoom removes the oldest answers until another one has room.
func (w *webAsker) makeRoom(size int64) {
	list, err := fs.ReadDir(w.cache.FS(), ".")
	if err != nil {
		return
	}
	var files []fs.FileInfo
	for _, d := range list {
		if info, err := d.Info(); err == nil && info.Mode().IsRegular() {
			files = append(files, info)
			size += info.Size()
		}
	}
	slices.SortFunc(files, func(a, b fs.FileInfo) int { return a.ModTime().Compare(b.ModTime()) })
	for len(files) > 0 && (size > maxCached || len(files) >= maxAnswers) {
		_ = w.cache.Remove(files[0].Name())
		size -= files[0].Size()
		files = files[1:]
	}
}
