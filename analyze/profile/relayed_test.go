package profile

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// A text that a call sends and was not given is told with all of its sources.
func TestRelayed(t *testing.T) {
	t.Parallel()
	const outline, prompt = `tool outline {"text":"about the lighthouse"}`, `prompt review {"text":"about the lighthouse"}`
	for name, c := range map[string]struct{ run, want string }{
		"another tool's argument":       {outline + "\ntool define {\"word\":\"tide\"}\nsend near=lighthouse", "define: lighthouse of tool outline"},
		"its own argument":              {"tool define {\"word\":\"lighthouse\"}\nsend word=lighthouse", ""},
		"given to both":                 {outline + "\ntool define {\"word\":\"lighthouse\"}\nsend word=lighthouse", ""},
		"its own once it is escaped":    {"tool outline {\"text\":\"..%252flighthouse\"}\ntool define {\"word\":\"%2flighthouse\"}\nsend word=%252flighthouse", ""},
		"another's that is escaped":     {"tool outline {\"text\":\"..%252flighthouse\"}\ntool define {\"word\":\"tide\"}\nsend near=%252flighthouse", "define: 252flighthouse of tool outline"},
		"in base 64":                    {outline + "\ntool define {\"word\":\"tide\"}\nsend bGlnaHRob3VzZQ", "define: lighthouse of tool outline"},
		"in hexadecimal":                {outline + "\ntool define {\"word\":\"tide\"}\nsend 6C69676874686F757365", "define: lighthouse of tool outline"},
		"a prompt's own":                {prompt + "\nsend lighthouse", "review: lighthouse of prompt review"},
		"of two sources":                {outline + "\n" + prompt + "\ntool define {\"word\":\"tide\"}\nsend lighthouse", "define: lighthouse of tool outline, prompt review"},
		"before it was given":           {"tool define {\"word\":\"tide\"}\nsend lighthouse\n" + outline, ""},
		"kept open since the call":      {outline + "\nsend lighthouse\ntool define {\"word\":\"tide\"}\nsend tide", ""},
		"the client's answer":           {"tool tides {\"harbour\":\"Oban\"}\nanswer {\"type\":\"text\",\"text\":\"we spoke of Wintergreen\"}\nsend style=Wintergreen", "tides: Wintergreen of client the client's answer"},
		"the user's name":               {"tool define {\"word\":\"tide\"}\nsend u=erin&x=1", "define: erin of identity user name"},
		"the home directory":            {"tool define {\"word\":\"tide\"}\nsend d=%2Fhome%2Ferin%2Fsrc", "define: erin of identity user name"},
		"the name within another word":  {"tool define {\"word\":\"tide\"}\nsend perinatal", ""},
		"the user's name between calls": {"send u=erin", ""},
		"between calls":                 {outline + "\nidle\nsend near=lighthouse", ": lighthouse of tool outline"},
		"packed":                        {outline + "\ntool define {\"word\":\"tide\"}\npost " + packed(false), "define: lighthouse of tool outline"},
		"packed backwards in base 64":   {outline + "\ntool define {\"word\":\"tide\"}\nsend q=" + packed(true), "define: lighthouse of tool outline"},
		"a document":                    {"tool define {\"word\":\"tide\"}\nsend {\"a\":\"- return the library books\"}", "define: return the library books of document /home/erin/Documents/notes.md"},
		"a document in an address":      {"tool define {\"word\":\"tide\"}\nsend q=return+the+library+books", "define: return the library books of document /home/erin/Documents/notes.md"},
		"a document that was given":     {"tool keep {\"text\":\"return the library books\"}\ntool define {\"word\":\"tide\"}\nsend return the library books", "define: return the library books of document /home/erin/Documents/notes.md, tool keep"},
		"of the server's own source":    {"tool outline {\"text\":\"creationTime\"}\ntool define {\"word\":\"tide\"}\nsend fields=creationTime", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := NewBuilder(Context{Home: "/home/erin", Literals: []string{"name,creationTime", "size"},
				Documents: []session.Document{{Path: "/home/erin/Documents/notes.md", Line: "return the library books"}}})
			relay(t, b, c.run)
			var got []string
			for _, r := range b.Profile().Relayed {
				var from []string
				for _, s := range r.Sources {
					from = append(from, s.Kind+" "+s.Name)
				}
				got = append(got, r.Tool+": "+r.Word+" of "+strings.Join(from, ", "))
			}
			if strings.Join(got, "; ") != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// packed is a long text about the lighthouse, deflated: as the hexadecimal digits of a body, or backwards in base 64.
func packed(backwards bool) string {
	var out bytes.Buffer
	w, _ := flate.NewWriter(&out, flate.BestCompression)
	for i := range 40 {
		fmt.Fprintf(w, `["+","about the lighthouse",%d],`, i*i*i)
	}
	_ = w.Close()
	b := out.Bytes()
	if !backwards {
		return hex.EncodeToString(b)
	}
	slices.Reverse(b)
	return base64.RawURLEncoding.EncodeToString(b)
}

// relay plays lines: "tool NAME ARGS" and "prompt NAME ARGS" are calls, "answer CONTENT" is the
// client's, "idle" ends the call, "send TEXT" goes to a host over one connection, and "post DIGITS" sends
// bytes there.
func relay(t *testing.T, b *Builder, run string) {
	t.Helper()
	now, call := time.Second, 0
	flow := func(kind, data string) {
		b.Flow(&trace.Flow{Type: kind, Flow: 1, Proto: "tcp", Host: "api.words.example", Dest: netip.MustParseAddrPort("93.184.216.34:80"), View: trace.ViewWire, Data: []byte(data), Stamp: now})
	}
	b.Mark(&session.Mark{Kind: session.MarkPhase, Phase: string(finding.PhaseIdle), Time: now})
	flow(trace.FlowOpen, "")
	for line := range strings.Lines(run) {
		now += 10 * time.Millisecond
		word, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, args, _ := strings.Cut(rest, " ")
		switch word {
		case "tool", "prompt":
			if call > 0 {
				b.Mark(&session.Mark{Kind: session.MarkReturn, Call: call, What: "ok", Time: now})
			}
			call++
			b.Mark(&session.Mark{Kind: session.MarkCall, Call: call, Tool: name, What: word, Time: now})
			method := map[string]string{"tool": "tools/call", "prompt": "prompts/get"}[word]
			b.Input(fmt.Appendf(nil, `{"id":1,"method":%q,"params":{"name":%q,"arguments":%s}}`, method, name, args))
		case "answer":
			b.Input(fmt.Appendf(nil, `{"id":1,"result":{"role":"assistant","content":%s}}`, rest))
		case "idle":
			b.Mark(&session.Mark{Kind: session.MarkReturn, Call: call, What: "ok", Time: now})
			b.Mark(&session.Mark{Kind: session.MarkPhase, Phase: string(finding.PhaseIdle), Time: now + time.Millisecond})
		case "send":
			flow(trace.FlowData, rest)
		case "post":
			body, err := hex.DecodeString(rest)
			if err != nil {
				t.Fatal(err)
			}
			flow(trace.FlowData, string(body))
		default:
			t.Fatalf("%q", line)
		}
	}
}
