package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/client"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Address reads a server's URL. User, query and fragment, which may hold credentials, are errors.
func Address(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("--url %.200q is not an http or https URL", text)
	case u.User != nil:
		return nil, fmt.Errorf("--url must not contain a user or a password")
	case u.RawQuery != "" || u.Fragment != "":
		return nil, fmt.Errorf("--url must not contain a query or a fragment, which logs would keep")
	}
	if u.Path == "" {
		u.Path = "/"
	}
	return u, nil
}

// Loopback reports whether an address is on this machine.
func Loopback(u *url.URL) bool {
	name := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	ip, err := netip.ParseAddr(name)
	return name == "localhost" || strings.HasSuffix(name, ".localhost") || err == nil && ip.Unmap().IsLoopback()
}

// Settings say how to reach a server and what to ask of it.
type Settings struct {
	*plan.Remote
	URL         *url.URL
	Seed        int64
	CallTimeout time.Duration
	// Older speaks the transport of 2024-11-05.
	Older    bool
	Progress func(line string)
	// RoundTripper makes the requests, nil for the usual one. Only tests set it.
	RoundTripper http.RoundTripper
}

// Run speaks with a server and writes all to the log, which it closes. What a server does
// wrong is recorded, and is no error. The error is ctx's, or that of the log.
func Run(ctx context.Context, s Settings, out session.Output, h session.Header) error {
	h.Started = time.Now().UTC()
	log, err := out.Create(h)
	if err != nil {
		return err
	}
	v := &visit{Settings: s, log: log, began: time.Now(), redact: out.Redactor.Redact}
	v.http = newPeer(&s)
	v.phase("start")
	v.speak(ctx)
	v.phase(finding.PhaseShutdown)
	v.http.close()
	if err := log.Close(); err != nil {
		return err
	}
	return context.Cause(ctx)
}

// visit is one conversation with a server.
type visit struct {
	Settings
	log    *session.Log
	began  time.Time
	redact func(string) string
	http   *peer
	called int
}

func (v *visit) now() time.Duration { return time.Since(v.began) + 1 }

func (v *visit) mark(m session.Mark) {
	m.Time = v.now()
	v.log.Mark(m)
}

func (v *visit) phase(p finding.Phase) {
	v.mark(session.Mark{Kind: session.MarkPhase, Phase: string(p)})
}

func (v *visit) doubt(code session.Code, p finding.Phase, format string, a ...any) {
	v.mark(session.Doubt(session.Gap{Code: code, Phase: string(p), Text: v.say(format, a...)}))
}

// say formats what a server said. Its texts are redacted before the format cuts them short: of
// half a passed value nobody could tell what it was.
func (v *visit) say(format string, a ...any) string {
	clean := slices.Clone(a)
	for i := range clean {
		switch text := clean[i].(type) {
		case string:
			clean[i] = v.redact(text)
		case error:
			clean[i] = v.redact(text.Error())
		case fmt.Stringer:
			clean[i] = v.redact(text.String())
		}
	}
	return v.redact(fmt.Sprintf(format, clean...))
}

// fact records an observation; name is what it is about where there can be several.
func (v *visit) fact(what session.RemoteFact, name, format string, a ...any) {
	v.mark(session.Mark{Kind: session.MarkHTTP, What: string(what), Tool: v.redact(name), Text: v.say(format, a...)})
}

// speak is the conversation. Its checks come first and last, so that the session between them
// is an ordinary client's.
func (v *visit) speak(ctx context.Context) {
	v.Progress("looking at " + v.URL.Host)
	if !v.arrive(ctx) {
		return
	}
	v.phase(finding.PhaseHandshake)
	v.converse(ctx)
	if ctx.Err() != nil {
		return
	}
	v.Progress("checking sessions and origins")
	v.check(ctx)
}

// converse is the session: handshake, lists, the calls that were asked for, and the lists again.
func (v *visit) converse(ctx context.Context) {
	c, closeConn := v.connect()
	defer closeConn()
	v.Progress("handshake")
	surface, err := c.Connect(ctx)
	if err != nil {
		v.doubt(session.GapHandshakeFailed, finding.PhaseHandshake, "the handshake failed: %v", err)
		return
	}
	v.phase(finding.PhaseList)
	v.Progress("listing")
	if err := c.List(ctx, surface); err != nil {
		v.doubt(session.GapNotListed, finding.PhaseList, "not everything was listed: %v", err)
	}
	v.phase(finding.PhaseIdle)
	if v.calls(ctx, c, surface) == 0 || ctx.Err() != nil {
		return
	}
	v.phase(finding.PhaseList)
	again := *surface
	if err := c.List(ctx, &again); err != nil {
		v.doubt(session.GapNotRelisted, finding.PhaseList, "the declarations were not listed again: %v", err)
	}
}

// connect makes a client whose frames are logged.
func (v *visit) connect() (c *client.Client, closeConn func()) {
	w := client.NewWeb(client.WebOptions{
		URL: v.http.url, Header: v.http.header, RoundTripper: v.http.trip, Older: v.Older,
		Dial: func(context.Context) (net.Conn, error) { return nil, client.ErrClosed },
		Receive: func(line []byte) {
			v.log.Frame(session.S2C, v.now(), line)
			c.Feed(line)
		},
		Ended: func(err error) { c.Closed(err) },
	})
	c = client.New(func(line []byte) error {
		v.log.Frame(session.C2S, v.now(), line)
		return w.Send(line)
	}, client.Options{Declines: true, CallTimeout: v.CallTimeout})
	return c, w.Close
}

// calls makes the calls that were asked for and says how many.
func (v *visit) calls(ctx context.Context, c *client.Client, surface *wire.Surface) int {
	list := append([]plan.RemoteCall{}, v.Calls...)
	if v.CallReadOnly {
		list = append(list, v.readOnly(surface)...)
	}
	for _, call := range list {
		if ctx.Err() != nil {
			v.doubt(session.GapCallsIncomplete, finding.PhaseCall, "%d of %d calls were made", v.called, len(list))
			break
		}
		v.call(ctx, c, call)
	}
	return v.called
}

func (v *visit) call(ctx context.Context, c *client.Client, call plan.RemoteCall) {
	v.called++
	v.Progress(fmt.Sprintf("call %d: tool %s", v.called, call.Name))
	v.mark(session.Mark{Kind: session.MarkCall, Call: v.called, Tool: call.Name, What: "tool"})
	result, err := c.CallTool(ctx, call.Name, call.Args)
	v.mark(session.Mark{Kind: session.MarkReturn, Call: v.called, Tool: call.Name, What: string(outcome(result, err))})
	if err != nil {
		v.mark(session.Doubt(session.Gap{Code: session.GapToolNeverAnswered, Tool: call.Name, Phase: string(finding.PhaseCall), Text: v.redact("no answer: " + err.Error())}))
	}
}

// outcome is how a call ended.
func outcome(r client.Result, err error) session.Outcome {
	switch {
	case err != nil:
		return session.OutcomeTimeout
	case r.Err != nil:
		return session.OutcomeError
	case r.IsError:
		return session.OutcomeIsError
	}
	return session.OutcomeOK
}

// maxReadOnly bounds the tools that are called without being named.
const maxReadOnly = 100

// readOnly makes an ordinary call of each tool that declares to be read-only.
func (v *visit) readOnly(surface *wire.Surface) []plan.RemoteCall {
	var out []plan.RemoteCall
	for i := range surface.Tools {
		t := &surface.Tools[i]
		if t.Annotations == nil || t.Annotations.ReadOnly == nil || !*t.Annotations.ReadOnly {
			continue
		}
		if len(out) == maxReadOnly {
			v.doubt(session.GapSurfaceTooLarge, finding.PhaseCall, "more than %d tools declare to be read-only", maxReadOnly)
			break
		}
		args, err := drawn(t, v.Seed)
		if err != nil {
			v.mark(session.Doubt(session.Gap{Code: session.GapToolNeverCalled, Tool: t.Name, Phase: string(finding.PhaseCall), Text: v.redact("no input was found for its schema: " + err.Error())}))
			continue
		}
		out = append(out, plan.RemoteCall{Name: t.Name, Args: args})
	}
	return out
}

// jsonObject reports whether a text is a JSON object.
func jsonObject(raw json.RawMessage) bool {
	var m map[string]json.RawMessage
	return json.Unmarshal(raw, &m) == nil && m != nil
}
