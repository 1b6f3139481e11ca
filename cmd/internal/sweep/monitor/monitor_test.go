package monitor

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

type fake struct {
	n     uint64
	err   error
	asked int
}

func (f *fake) Waiting(context.Context) (uint64, error) { f.asked++; return f.n, f.err }
func (f *fake) Connected() bool                         { return f.err == nil }

func get(t *testing.T, address, path string) (status int, text string) {
	t.Helper()
	res, err := http.Get("http://" + address + path)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

func TestMonitor(t *testing.T) {
	t.Parallel()
	q := &fake{n: 7}
	m := New(q, "1.2\"3\n", 2)
	at, stop, err := m.Serve(":0")
	if err != nil {
		t.Fatal(err)
	}
	if host, _, err := net.SplitHostPort(at); err != nil || host != "127.0.0.1" {
		t.Errorf("it serves on %s: %v", at, err)
	}
	m.Began()
	m.Began()
	m.Ended(false, 20*time.Second)
	status, text := get(t, at, "/metrics")
	for _, line := range []string{
		"coalmine_jobs_started_total 2\n", "coalmine_jobs_running 1\n", "coalmine_jobs_at_once 2\n", `coalmine_jobs_done_total{outcome="run"} 1` + "\n",
		`coalmine_jobs_done_total{outcome="error"} 0` + "\n", "coalmine_queue_jobs 7\n", "coalmine_queue_connected 1\n", `coalmine_build_info{version="1.2\"3\n"} 1` + "\n",
		`coalmine_job_seconds_bucket{le="15"} 0` + "\n", `coalmine_job_seconds_bucket{le="30"} 1` + "\n", "coalmine_job_seconds_sum 20\n",
	} {
		if !strings.Contains(text, line) {
			t.Errorf("status %d, no %q", status, line)
		}
	}
	q.err = errors.New("down")
	get(t, at, "/metrics")
	if q.asked != 1 {
		t.Errorf("the queue was asked %d times", q.asked)
	}
	for path, want := range map[string]int{"/healthz": 200, "/readyz": 503, "/": 404} {
		if got, _ := get(t, at, path); got != want {
			t.Errorf("%s answers %d", path, got)
		}
	}
	if res, err := http.Post("http://"+at+"/metrics", "", nil); err != nil || res.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %v", err)
	} else {
		res.Body.Close()
	}
	if err := stop(); err != nil {
		t.Error(err)
	}
	if _, _, err := m.Serve("nowhere"); err == nil {
		t.Error("an address without a port is served")
	}
}

// The dashboard and the alert ask only for what is exported.
func TestDashboard(t *testing.T) {
	t.Parallel()
	m := New(&fake{}, "1", 1)
	m.Ended(true, time.Second)
	answer := httptest.NewRecorder()
	m.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	text := answer.Body.String()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "deploy", "grafana", "coalmine.json"))
	if err != nil {
		t.Fatal(err)
	}
	var board struct {
		Title         string
		SchemaVersion int
		Panels        []struct {
			ID      int
			Title   string
			GridPos struct{ H, W, X, Y int }
			Targets []struct{ Expr, RefID string }
		}
	}
	if err := json.Unmarshal(data, &board); err != nil {
		t.Fatal(err)
	}
	if board.Title == "" || board.SchemaVersion == 0 || len(board.Panels) == 0 {
		t.Errorf("%+v", board)
	}
	ids := map[int]bool{}
	for _, p := range board.Panels {
		if ids[p.ID] || p.Title == "" || len(p.Targets) == 0 || p.GridPos.W <= 0 || p.GridPos.X+p.GridPos.W > 24 {
			t.Errorf("panel %+v", p)
		}
		ids[p.ID] = true
		for _, target := range p.Targets {
			names := regexp.MustCompile(`coalmine_\w+`).FindAllString(target.Expr, -1)
			if len(names) == 0 {
				t.Errorf("%q asks for nothing", target.Expr)
			}
			for _, name := range names {
				if !regexp.MustCompile(`(?m)^` + name + `[{ ]`).MatchString(text) {
					t.Errorf("%q asks for %s, which is not exported", target.Expr, name)
				}
			}
		}
	}
}
