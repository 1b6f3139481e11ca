package analyze

import (
	"fmt"
	"os"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Live judges the calls of a run that goes on. Each Shown reads only what the log
// gained since the one before. It is not safe for concurrent use.
type Live struct {
	log *session.Follower
	j   *judge
	r   *reading
}

// OpenLive begins to follow the log in dir. The caller closes the Live.
func OpenLive(dir *os.Root) (*Live, error) {
	log, err := session.Open(dir)
	if err != nil {
		return nil, fmt.Errorf("read the run's log: %w", err)
	}
	follower, err := log.Follow()
	if err != nil {
		return nil, fmt.Errorf("follow the run's log: %w", err)
	}
	j := newJudge(log.Header)
	r := j.reading(false)
	r.w, r.d, r.frames = newWireReader(r.b, &j.timelines), detect.NewSession(detect.Options{OwnClient: true}), follower.Scanner()
	return &Live{log: follower, j: j, r: r}, nil
}

// Shown are, by fingerprint, the calls from the number from on each of which for
// itself shows a finding. wanted has the rules of the findings by their fingerprints.
func (l *Live) Shown(wanted map[string]string, from int) map[string][]int {
	l.r.entries(l.log.More())
	l.j.profile = l.r.b.Now()
	l.r.w.facts.Detected = nil
	l.j.detected(l.r.d.Now(), l.r.w)
	return rules.ShownIn(l.j.run(l.r.w), wanted, from)
}

// Close lets go of the log's files.
func (l *Live) Close() error { return l.log.Close() }
