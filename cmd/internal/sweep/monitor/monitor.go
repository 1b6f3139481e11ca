package monitor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Queue is what is asked of the queue.
type Queue interface {
	// Waiting counts the jobs that no worker has finished.
	Waiting(ctx context.Context) (uint64, error)
	Connected() bool
}

// The outcomes of a job.
const (
	Run    = "run"
	Failed = "error"
)

// Monitor counts what one worker does. Its methods may be called from many goroutines.
type Monitor struct {
	metrics http.Handler
	queue   Queue
	running atomic.Int64
	started prometheus.Counter
	done    *prometheus.CounterVec
	seconds prometheus.Histogram
	// asked bounds how often the queue is asked, since anyone may scrape.
	mu      sync.Mutex
	asked   time.Time
	waiting float64
}

// buckets are the bounds of a job's seconds: from a small server to the budget of a night.
var buckets = []float64{1, 5, 15, 30, 60, 120, 300, 600, 1800, 3600}

// The bounds on questions to the queue.
const (
	askEvery = 5 * time.Second
	askTime  = 2 * time.Second
)

// New makes the monitor of a worker for so many jobs at once.
func New(q Queue, version string, jobs int) *Monitor {
	m := &Monitor{
		queue: q, waiting: math.NaN(),
		started: prometheus.NewCounter(prometheus.CounterOpts{Name: "coalmine_jobs_started_total", Help: "Jobs that began."}),
		done:    prometheus.NewCounterVec(prometheus.CounterOpts{Name: "coalmine_jobs_done_total", Help: "Jobs that ended, by outcome."}, []string{"outcome"}),
		seconds: prometheus.NewHistogram(prometheus.HistogramOpts{Name: "coalmine_job_seconds", Help: "How long a job took.", Buckets: buckets}),
	}
	for _, outcome := range []string{Run, Failed} {
		m.done.WithLabelValues(outcome)
	}
	gauge := func(name, help string, value func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, value)
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{Name: "coalmine_build_info", Help: "The version of coalmine.", ConstLabels: prometheus.Labels{"version": version}})
	info.Set(1)
	set := prometheus.NewRegistry()
	set.MustRegister(m.started, m.done, m.seconds, info,
		gauge("coalmine_jobs_running", "Jobs under way.", func() float64 { return float64(m.running.Load()) }),
		gauge("coalmine_jobs_at_once", "Jobs that the worker takes at once.", func() float64 { return float64(jobs) }),
		gauge("coalmine_queue_jobs", "Jobs that no worker has finished.", m.queueLength),
		gauge("coalmine_queue_connected", "Whether the queue is connected.", func() float64 {
			if q.Connected() {
				return 1
			}
			return 0
		}),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), collectors.NewGoCollector())
	m.metrics = promhttp.HandlerFor(set, promhttp.HandlerOpts{})
	return m
}

// Began notes that a job began.
func (m *Monitor) Began() {
	m.running.Add(1)
	m.started.Inc()
}

// Ended notes how a job that began has ended, and after which time.
func (m *Monitor) Ended(failed bool, after time.Duration) {
	m.running.Add(-1)
	m.seconds.Observe(after.Seconds())
	outcome := Run
	if failed {
		outcome = Failed
	}
	m.done.WithLabelValues(outcome).Inc()
}

// queueLength is the length of the queue, NaN where it does not answer.
func (m *Monitor) queueLength() float64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.asked) < askEvery {
		return m.waiting
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTime)
	defer cancel()
	n, err := m.queue.Waiting(ctx)
	m.waiting, m.asked = float64(n), time.Now()
	if err != nil {
		m.waiting = math.NaN()
	}
	return m.waiting
}

// ServeHTTP answers /metrics, /healthz (the process lives) and /readyz (the queue is reached).
func (m *Monitor) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		http.Error(w, "use GET", http.StatusMethodNotAllowed)
		return
	}
	switch r.URL.Path {
	case "/metrics":
		m.metrics.ServeHTTP(w, r)
	case "/healthz":
		fmt.Fprintln(w, "ok")
	case "/readyz":
		if !m.queue.Connected() {
			http.Error(w, "the queue is not reached", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	default:
		http.NotFound(w, r)
	}
}

// Serve answers on an address until stop is called. Without a host it is loopback's.
func (m *Monitor) Serve(address string) (at string, stop func() error, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", nil, err
	}
	if host == "" {
		host = "127.0.0.1"
	}
	l, err := net.Listen("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return "", nil, err
	}
	s := &http.Server{Handler: m, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 10 * time.Second, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	return l.Addr().String(), func() error {
		err := s.Close()
		if e := <-ended; !errors.Is(e, http.ErrServerClosed) {
			err = errors.Join(err, e)
		}
		return err
	}, nil
}
