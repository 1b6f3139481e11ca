package site

import (
	"context"
	"errors"
	"html/template"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/cmd/internal/sweep/store"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// The bounds on the reports that are copied into a site, in bytes: on one, and on all.
const (
	maxReport  = 32 << 20
	maxReports = 8 << 30
)

// servers writes the pages of servers.
type servers struct {
	store *store.Store
	dir   *os.Root
	runs  *os.Root
	style template.CSS
	left  int64
	// full says that a report was left out for the bound on all.
	full bool
}

// writeServers writes a page for each server, with the reports of its kept run beside it.
func writeServers(ctx context.Context, s *store.Store, dir, runs *os.Root, now []store.Entry) (*servers, error) {
	style, err := files.ReadFile("site.css")
	if err != nil {
		return nil, err
	}
	w := &servers{store: s, dir: dir, runs: runs, style: template.CSS(style), left: maxReports} //nolint:gosec // our own file
	if err := dir.MkdirAll("servers", 0o755); err != nil {
		return nil, err
	}
	for i := range now {
		if err := w.write(ctx, &now[i]); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// version is a step of a server's history.
type version struct {
	store.Entry
	Changed bool
	Change  Change
}

func (w *servers) write(ctx context.Context, e *store.Entry) error {
	history, err := w.store.History(ctx, e.Key)
	if err != nil {
		return err
	}
	var steps []version
	for i := range history {
		v := version{Entry: history[i]}
		if i+1 < len(history) {
			v.Change, v.Changed = Compare(&history[i+1], &history[i])
		}
		steps = append(steps, v)
	}
	reports, err := w.reports(e)
	if err != nil {
		return err
	}
	return render(w.dir, PageOf(e.Key), "server.tmpl", map[string]any{"Now": e, "Steps": steps, "Reports": reports, "Style": w.style})
}

// reports copies those of a kept run into a directory beside the server's page, and returns
// their places as the page links them. A run that is not kept any more has none.
func (w *servers) reports(e *store.Entry) ([]string, error) {
	to := strings.TrimSuffix(PageOf(e.Key), ".html")
	if err := w.dir.RemoveAll(to); err != nil { // of an earlier site
		return nil, err
	}
	if w.runs == nil || e.Dir == "" {
		return nil, nil
	}
	run, err := w.runs.OpenRoot(filepath.FromSlash(e.Dir))
	if err != nil {
		return nil, nil
	}
	defer run.Close()
	var links []string
	for _, name := range []string{report.FileHTML, report.FileSARIF} {
		data, err := session.ReadFile(run, name, maxReport)
		if err != nil {
			continue // it is not there, or larger than a page should be
		}
		if w.left -= int64(len(data)); w.left < 0 {
			w.left, w.full = 0, true
			break
		}
		if err := errors.Join(w.dir.MkdirAll(to, 0o755), w.dir.WriteFile(path.Join(to, name), data, 0o644)); err != nil {
			return nil, err
		}
		links = append(links, path.Join(path.Base(to), name))
	}
	return links, nil
}
