package probe

import (
	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/report"
	"github.com/coalmine-dev/coalmine/sandbox"
)

// readEarlier reads what the run is to be compared with, before the run takes the place of it.
func (p *probe) readEarlier(target string) error {
	if l := p.opts.Lock; l != nil {
		e, err := analyze.EarlierLock(l.Name, []byte(l.Text))
		if err != nil {
			return &sandbox.UsageError{Err: err, Hint: "name a file that coalmine lock wrote"}
		}
		p.earlier = append(p.earlier, e)
	}
	if p.opts.Since != "" {
		e, err := analyze.ReadEarlier(p.opts.Since, report.Slug(target))
		if err != nil {
			return &sandbox.UsageError{Err: err, Hint: "name the directory of an earlier probe with --since, such as coalmine-out"}
		}
		p.earlier = append(p.earlier, e)
	}
	return nil
}
