package profile

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/netip"
	neturl "net/url"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// What a call was given is explained in a form, a query or JSON, also beside other words and
// escapes; what only looks like it is not.
func TestGivenWordsExplainPayloads(t *testing.T) {
	sum, other := sha256.Sum256([]byte("given")), sha256.Sum256([]byte("another"))
	value, cipher := hex.EncodeToString(sum[:]), base64.StdEncoding.EncodeToString(other[:])
	argument := "touch q7" + value + `$@x9k2m3p4q5;` + base64.RawStdEncoding.EncodeToString(sum[:])
	input := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"post","arguments":{"text":%q}}}`, argument)
	for body, want := range map[string]int{
		"channel=C024BE91L&text=" + neturl.QueryEscape(argument):              0,
		fmt.Sprintf(`{"channel":"C024BE91L","text":%q}`, "\n"+argument):       0,
		"text=" + neturl.QueryEscape(argument) + "&id=" + cipher:              1,
		"text=" + hex.EncodeToString(other[:]):                                1,
		"text=" + value[:40] + hex.EncodeToString(other[:20]) + "&q7" + value: 1,
	} {
		b := builder()
		b.Mark(&session.Mark{Kind: session.MarkCall, Call: 1, Tool: "post", Time: time.Second})
		b.Input([]byte(input))
		flow := trace.Flow{Type: trace.FlowOpen, Flow: 1, Proto: "tcp", App: "http/1.1", Host: "api.example.org", Dest: netip.MustParseAddrPort("8.8.4.4:80"), Stamp: 2 * time.Second}
		b.Flow(&flow)
		flow.Type, flow.View, flow.Data = trace.FlowData, trace.ViewWire, fmt.Appendf(nil, "POST /send HTTP/1.1\r\nHost: api.example.org\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
		b.Flow(&flow)
		if got := b.Profile().Payloads; len(got) != want {
			t.Errorf("%s: %+v", body, got)
		}
	}
}
