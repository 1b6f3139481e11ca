//go:build linux && e2e

package proxy

import (
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
)

// script prints, for each pair of a base and a reference, what Node makes of it.
const script = `
let out = [];
for (const [base, ref] of JSON.parse(require('fs').readFileSync(0, 'utf8'))) {
  try { const u = new URL(ref, base); out.push([u.protocol + '//' + u.host, u.pathname, u.href.split('#')[0].includes('?'), u.search]); }
  catch { out.push(null); }
}
console.log(JSON.stringify(out));`

// TestAddressesAreAsNodeHasThem compares addresses made of all that parsers differ
// over with what Node's URL makes of them, which is the reading of most clients.
func TestAddressesAreAsNodeHasThem(t *testing.T) {
	parts := []string{"/", `\`, "//", `\\`, "/\\", ".", "..", "%2e", "%2E%2e", "%2f", "%5c", "a", "register", "%72", "%", "%zz", "?", "#", "@", ":", ":80", ":443", ":8080", ":99999",
		"http:", "https:", "HTTP://", "hTTps:\\\\", "ftp:", "file:", "javascript:", "127.0.0.1", "0x7f.1", "2130706433", "[::1]", "[::ffff:7f00:1]", "localhost", "EXAMPLE.com", "ex%41mple.com", "bücher.de", "xn--bcher-kva.de",
		"ｅｘ.com", "\t", "\n", "\r", " ", "\x00", "\x1f", "\u00a0", "\u2028", "ß.de", "user", "user:pass@", ";v=1", "&x=1", "'", "\"", "<", "|", "^", "`", "{", "ü", "\U0001f600", "\u00ad", "。"}
	bases := []string{"http://127.0.0.1:8080/mcp", "http://localhost/a/b/c?d=e#f", "https://example.com:443/sse"}
	random := rand.New(rand.NewPCG(1, 2))
	var cases [][2]string
	for range 40_000 {
		var ref strings.Builder
		for range 1 + random.IntN(7) {
			ref.WriteString(parts[random.IntN(len(parts))])
		}
		cases = append(cases, [2]string{bases[random.IntN(len(bases))], ref.String()})
	}
	in, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "node", "-e", script)
	cmd.Stdin = strings.NewReader(string(in))
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want []*[4]any
	if err := json.Unmarshal(out, &want); err != nil || len(want) != len(cases) {
		t.Fatalf("%d answers, %v", len(want), err)
	}
	read, refused := 0, 0
	for i, c := range cases {
		a, err := parseAddress(c[0], c[1])
		w := want[i]
		if w != nil && !strings.HasPrefix(w[0].(string), "http") {
			w = nil
		}
		switch {
		case err != nil && w == nil:
		case err != nil:
			refused++ // what we do not read passes no gate
		case w == nil:
			t.Errorf("%q on %s: %+v, and Node refuses it", c[1], c[0], a)
		default:
			read++
			query := strings.TrimPrefix(w[3].(string), "?")
			if a.origin != w[0] || a.path != w[1] || a.query != query {
				t.Errorf("%q on %s: %+v, and Node says %v", c[1], c[0], a, *w)
			}
		}
	}
	t.Logf("%d are read alike, %d of those that Node reads are refused", read, refused)
	if refused > read/100 {
		t.Errorf("%d of %d that Node reads are refused", refused, read)
	}
}
