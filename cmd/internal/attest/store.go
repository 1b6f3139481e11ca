package attest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// The bounds on a store: one target's lines, a file of all, and the time for an answer.
const (
	maxLines  = 1 << 20
	maxStored = 64 << 20
	patience  = 30 * time.Second
)

// FileName is where a store keeps the envelopes of a target, a line each.
func FileName(digest string) string { return strings.TrimPrefix(digest, "sha256:") + ".jsonl" }

// Find looks in a store for a statement that stands for a run. The store is a directory or an
// address with a file for each target, or one file of envelopes. refused says why none of
// those that are there does; it is empty where there are none.
func Find(ctx context.Context, store string, w *Wanted, keys []*Verifier) (found *Statement, refused []string, err error) {
	data, shared, err := read(ctx, store, w.Target.Digest)
	if err != nil {
		return nil, nil, fmt.Errorf("look a verdict up: %w", err)
	}
	for line := range bytes.Lines(data) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		s, err := Open(ctx, line, keys)
		if err == nil && shared && s.Digest() != w.Target.Digest {
			continue
		}
		if err == nil {
			err = w.Accepts(s)
		}
		if err == nil {
			return s, nil, nil
		}
		if len(refused) < maxRefused {
			refused = append(refused, err.Error())
		}
	}
	return nil, refused, nil
}

// maxRefused bounds the reasons that are told.
const maxRefused = 5

// read reads what a store has of a target; shared says that it holds other targets' lines too.
func read(ctx context.Context, store, digest string) (data []byte, shared bool, err error) {
	if strings.HasPrefix(store, "http://") || strings.HasPrefix(store, "https://") {
		data, err = fetch(ctx, store, FileName(digest))
		return data, false, err
	}
	info, err := os.Stat(store)
	if err != nil {
		return nil, false, err
	}
	name, most := store, int64(maxStored)
	if info.IsDir() {
		name, most = filepath.Join(store, FileName(digest)), maxLines
	}
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	data, err = bounded(f, most)
	return data, !info.IsDir(), err
}

// fetch asks a store by its address. It follows no redirect to another host, and sends nothing
// but the digest in the path.
func fetch(ctx context.Context, store, name string) ([]byte, error) {
	u, err := url.Parse(store)
	if err != nil {
		return nil, err
	}
	if ip := net.ParseIP(u.Hostname()); u.Scheme != "https" && u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("%.200s is no https address", store)
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.JoinPath(name).String(), nil)
	if err != nil {
		return nil, err
	}
	client := &http.Client{CheckRedirect: func(to *http.Request, via []*http.Request) error {
		if to.URL.Host != u.Host || to.URL.Scheme != u.Scheme || len(via) > 5 {
			return fmt.Errorf("it redirects to %.200s", to.URL.Redacted())
		}
		return nil
	}}
	res, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	switch res.StatusCode {
	case http.StatusOK:
		return bounded(res.Body, maxLines)
	case http.StatusNotFound:
		return nil, nil
	}
	return nil, fmt.Errorf("%.200s answers %s", u.Redacted(), res.Status)
}

func bounded(r io.Reader, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(data)) > most {
		err = fmt.Errorf("it is longer than %d bytes", most)
	}
	return data, err
}
