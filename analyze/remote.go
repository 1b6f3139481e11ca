package analyze

import (
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// maxRemote bounds the facts that are kept of a remote server.
const maxRemote = 1000

// http takes what was seen of a remote server's HTTP and TLS.
func (j *judge) http(m *session.Mark) {
	if len(j.remote) >= maxRemote {
		j.because(session.GapAnalysisBounded, "more than %d observations of HTTP", maxRemote)
		return
	}
	fact := rules.Fact{Time: m.Time, Tool: j.say(m.Tool, 200), Text: j.say(m.Text, 400)}
	j.remote = append(j.remote, rules.RemoteFact{Fact: fact, What: session.RemoteFact(m.What), Port: int(m.N)})
}

// remoteGaps says why a remote server is never clean.
func (j *judge) remoteGaps() {
	j.because(session.GapNotWatched, "not watched: the server runs at %s, so its files, programs and network are unknown", j.say(j.header.Remote.URL, 300))
	if j.profile.Truncated {
		j.because(session.GapAnalysisBounded, "the run has more distinct effects than coalmine can judge")
	}
}
