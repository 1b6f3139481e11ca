package plan

import (
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

func TestHostsOfThePlan(t *testing.T) {
	p := Plan{Env: []Variable{{Name: "DB", Value: "postgres://user:secret@Database:5432/app"}}}
	p.Server.Command = []string{"node", "server.js", "--host=queue.cluster"}
	p.Server.Manifests = []session.Manifest{{Text: `{"homepage": "https://qzkxvjwq.io/x"}`}}
	p.Drive.Hints.Literals.Texts = []string{"http://redis:6379", "plain words", "QXZ-7.Collector.test."}
	got := p.hosts()
	for _, want := range []string{"database", "queue.cluster", "qzkxvjwq.io", "redis", "qxz-7.collector.test"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not among %q", want, got)
		}
	}
	for _, not := range []string{"node", "plain", "user", "secret"} {
		if slices.Contains(got, not) {
			t.Errorf("%s is among %q", not, got)
		}
	}
}
