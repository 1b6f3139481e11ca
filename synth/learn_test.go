package synth

import (
	"encoding/json"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/wire"
	"github.com/coalmine-dev/coalmine/synth/schema"
)

// A refusal that lists what it would have taken corrects the argument that it
// names or quotes, and no other.
func TestDemands(t *testing.T) {
	d := &driver{cfg: Config{Surface: &wire.Surface{}, Hints: schema.Hints{Dictionary: &schema.Dictionary{}}}}
	for _, c := range []struct{ args, refusal, want string }{
		{`{"from":"a short note","value":9}`, "Unknown unit: a short note. Supported units: m, km, cm", `{"from":"m","value":9}`},
		{`{"kind":"x","note":"y z"}`, "Invalid kind: x. Must be Text or Blob.", `{"kind":"Text","note":"y z"}`},
		{`{"a":"b c"}`, "no such thing. Supported units: m, km", ``},
	} {
		l := learner{d: d, left: maxLearned}
		if got := string(l.demands(json.RawMessage(c.args), c.refusal)); got != c.want {
			t.Errorf("%s\n%s\nwant %q", c.refusal, got, c.want)
		}
	}
}
