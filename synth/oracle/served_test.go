package oracle

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	scan "github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

// A shell alone makes the command's token. The other tokens stand where they are looked for, and
// nothing of it is an order by the rules on texts: a server may return it.
func TestServed(t *testing.T) {
	t.Parallel()
	for seed := range int64(200) {
		p, carried := Served(seed)
		all := strings.Join([]string{p.Line, p.Code, p.Link, p.Inner, p.Order}, "\n")
		for _, in := range carried {
			if in.Oracle != session.OracleServed || strings.Contains(all, in.Token) == (in.Context == session.ServedLine || in.Context == session.ServedCode) {
				t.Fatalf("seed %d: %+v in %s", seed, in, all)
			}
		}
		if strings.ReplaceAll(p.Line, "''", "") != "touch "+carried[0].Token || strings.ContainsAny(p.Line, `"\`) {
			t.Fatalf("the command: %s", p.Line)
		}
		c := sinkhole.Config{Planted: p}
		r := httptest.NewRequest(http.MethodGet, "https://www.example.com/about", nil)
		_, page := c.Answer(r)
		for _, in := range carried[2:] {
			if !strings.Contains(page, in.Token) {
				t.Fatalf("the page lacks %s: %s", in.Context, page)
			}
		}
		if hits := scan.Scan(page + "\n" + all); len(hits) > 0 {
			t.Fatalf("seed %d: an order to a model: %+v", seed, hits)
		}
	}
}
