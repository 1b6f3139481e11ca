package sweep

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A sweep of what changed has all other targets of its source, whatever another registry or
// filter of the same store listed since.
func TestSourcesOfOneStore(t *testing.T) {
	t.Parallel()
	registry := func(names ...string) string {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var list []string
			for _, name := range names {
				list = append(list, fmt.Sprintf(`{"server":{"name":"io/%s","version":"1.0.0","packages":[{"registryType":"npm","identifier":%q,"version":"1.0.0","transport":{"type":"stdio"}}]}}`, name, name))
			}
			if r.URL.Query().Has("updated_since") { // nothing changed
				list = nil
			}
			fmt.Fprintf(w, `{"servers":[%s],"metadata":{}}`, strings.Join(list, ","))
		}))
		t.Cleanup(s.Close)
		return s.URL
	}
	one, two := registry("honest", "leaky"), registry("honest")
	f := &fake{}
	o := Options{Dir: t.TempDir(), Rules: "r", Settings: "s"}
	for _, step := range []struct{ source, filter, want string }{
		{one, "", "2 jobs: 2 run, 0 judged, 0 skipped, 0 failed; status 1"},
		{two, "", "1 jobs: 0 run, 0 judged, 1 skipped, 0 failed; status 0"},
		{one, "leaky", "1 jobs: 0 run, 0 judged, 1 skipped, 0 failed; status 1"},
		{one, "", "2 jobs: 0 run, 0 judged, 2 skipped, 0 failed; status 1"},
		{two, "", "1 jobs: 0 run, 0 judged, 1 skipped, 0 failed; status 0"},
		{one, "leaky", "1 jobs: 0 run, 0 judged, 1 skipped, 0 failed; status 1"},
	} {
		o.Source, o.Filter = step.source, step.filter
		if got, err := sweepOnce(t.Context(), t, f, o); err != nil || got != step.want {
			t.Errorf("%+v: %s, %v", step, got, err)
		}
	}
}
