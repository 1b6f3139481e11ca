package registry

import (
	"cmp"
	"slices"
	"sync"
)

// maxProblems bounds the problems of a kind that a report lists.
const maxProblems = 200

// Report is what was asked of a proxy. Its texts are escaped and bounded, and hold no
// credential.
type Report struct {
	// Refused are requests that the proxy did not allow; Failed are those that it
	// allowed and a registry did not answer well: unreachable, 401, cut off, too large,
	// another digest than its index names. Both are in order of their first occurrence
	// and list at most 200 kinds; Unlisted counts the requests of further ones.
	Refused, Failed []Problem
	Unlisted        int
	// Requests is the number of requests, Cached of those answered from the cache, and
	// Bytes what registries sent.
	Requests, Cached int
	Bytes            int64
}

// Problem is a kind of request that failed.
type Problem struct {
	// Host is the host and port that was asked for, "" where none was named. Path is an
	// example of a path, without its query.
	Host, Path string
	// Reason says in plain words why.
	Reason string
	// Count is how often it happened.
	Count int
	// Unreached says that a registry gave no whole answer, rather than one that is no success.
	Unreached bool
}

// Report says what was asked of the proxy so far.
func (p *Proxy) Report() Report { return p.report.snapshot() }

// reporter gathers a Report.
type reporter struct {
	mu              sync.Mutex
	report          Report
	refusals, fails map[problemKey]*counted
}

type problemKey struct{ host, reason string }

type counted struct {
	Problem
	order int
}

func newReporter() *reporter {
	return &reporter{refusals: map[problemKey]*counted{}, fails: map[problemKey]*counted{}}
}

func (r *reporter) refused(host, path, reason string) {
	r.note(r.refusals, Problem{Host: host, Path: path, Reason: reason})
}

func (r *reporter) failed(host, path, reason string) {
	r.note(r.fails, Problem{Host: host, Path: path, Reason: reason})
}

func (r *reporter) unreached(host, path, reason string) {
	r.note(r.fails, Problem{Host: host, Path: path, Reason: reason, Unreached: true})
}

func (r *reporter) note(kinds map[problemKey]*counted, p Problem) {
	p.Host, p.Path, p.Reason = printable(p.Host), printable(p.Path), printable(p.Reason)
	k := problemKey{p.Host, p.Reason}
	r.mu.Lock()
	defer r.mu.Unlock()
	if kinds[k] == nil {
		if len(kinds) >= maxProblems {
			r.report.Unlisted++
			return
		}
		kinds[k] = &counted{p, len(kinds)}
	}
	kinds[k].Count++
}

func (r *reporter) snapshot() Report {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := r.report
	out.Refused, out.Failed = inOrder(r.refusals), inOrder(r.fails)
	return out
}

func inOrder(kinds map[problemKey]*counted) []Problem {
	list := make([]*counted, 0, len(kinds))
	for _, c := range kinds {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b *counted) int { return cmp.Compare(a.order, b.order) })
	var out []Problem
	for _, c := range list {
		out = append(out, c.Problem)
	}
	return out
}

// request counts a request; it is false when there were too many.
func (r *reporter) request(most int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Requests++
	return r.report.Requests <= most
}

func (r *reporter) cached() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Cached++
}

// spend counts bytes of registries; it is false when there were too many.
func (r *reporter) spend(n int, most int64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Bytes += int64(n)
	return r.report.Bytes <= most
}
