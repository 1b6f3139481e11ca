package probe

import (
	"fmt"
	"sync"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
)

// found are the findings that were told of before the end, by fingerprint.
type found struct {
	mu   sync.Mutex
	told map[string]bool
}

// tellFound tells whoever looks on of findings above information, each once.
func (p *probe) tellFound(res *analyze.Result) {
	if p.opts.Found == nil {
		return
	}
	p.found.mu.Lock()
	defer p.found.mu.Unlock()
	if p.found.told == nil {
		p.found.told = map[string]bool{}
	}
	for i := range res.Findings {
		f := &res.Findings[i]
		if f.Severity.Rank() <= finding.Info.Rank() || p.found.told[f.Fingerprint] {
			continue
		}
		p.found.told[f.Fingerprint] = true
		p.opts.Found(p.plan.Redactor.Redact(fmt.Sprintf("[%s] %s: %s", f.Severity, f.Rule, f.Message)))
	}
}

// lookEarly tells of what the declared run shows by itself, while the others are made. wait waits for
// that. What cannot be judged then is told at the end.
func (p *probe) lookEarly() (wait func()) {
	if p.opts.Found == nil {
		return func() {}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		dir, err := analyze.OpenDirectory(p.dir, p.opts.Version)
		if err != nil {
			return
		}
		if res, err := dir.First(nil); err == nil {
			p.tellFound(res)
		}
	}()
	return func() { <-done }
}
