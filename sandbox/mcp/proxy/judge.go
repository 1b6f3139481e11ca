package proxy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/mcp/gate"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// errLong says that a body is longer than what is judged at once.
var errLong = fmt.Errorf("longer than %d bytes", maxBody)

// readBody reads a whole body. Of a longer one it returns what it has read.
func readBody(r io.Reader) ([]byte, error) {
	raw, err := io.ReadAll(io.LimitReader(r, maxBody+1))
	if err == nil && len(raw) > maxBody {
		err = errLong
	}
	return raw, err
}

// putBack is a body of which some bytes have been read.
func putBack(read []byte, rest io.ReadCloser) io.ReadCloser {
	return body{io.MultiReader(bytes.NewReader(read), rest), rest}
}

// upTo is a body that ends by its length alone. The transport reads on to see the end, and the
// answer's beginning may have closed the client's body by then: the transport cuts the answer off for that.
func upTo(n int64, b io.ReadCloser) io.ReadCloser {
	return body{io.LimitReader(b, n), b}
}

// body is read in another way than what it closes.
type body struct {
	io.Reader
	io.Closer
}

// judge reads what a client posts and lets the gate say whether it goes on.
func (x *exchange) judge(w http.ResponseWriter, r *http.Request) bool {
	closed := x.p.opts.Gate.Closed()
	raw, err := readBody(r.Body)
	long := errors.Is(err, errLong)
	switch {
	case long && closed:
		http.Error(w, "coalmine gate: the body is "+err.Error(), http.StatusRequestEntityTooLarge)
		return false
	case err != nil && !long:
		http.Error(w, "coalmine: the body cannot be read", http.StatusBadRequest)
		return false
	}
	x.open(raw)
	if long {
		x.put(session.WireFrame{Dir: session.C2S, At: x.began, Raw: append(raw[:wire.HeadSize:wire.HeadSize], "… [cut]"...),
			Gate: &session.Gate{Action: "gate_skipped", Reason: "the body is " + errLong.Error()}})
		r.Body = putBack(raw, r.Body)
		return true
	}
	v := x.gate.Client(r.Context(), raw)
	x.put(session.WireFrame{Dir: session.C2S, At: x.began, Raw: raw, Gate: v.Mark})
	if v.Pass != nil {
		r.Body = io.NopCloser(bytes.NewReader(v.Pass))
		return true
	}
	if v.Reply != nil {
		x.put(session.WireFrame{Dir: session.S2C, At: time.Now(), Raw: v.Reply, Gate: v.Injected})
		if x.session.send(v.Reply) {
			v.Reply = nil // the older transport answers on its stream
		}
	}
	reply(w, v.Reply)
	return false
}

// open finds the session that a message belongs to. One that opens a session
// is a session of its own until the answer gives it a name.
func (x *exchange) open(raw []byte) {
	if x.r.Header.Get(headerSession) == "" && x.r.URL.RawQuery == "" {
		if messages, err := wire.Parse(raw); err == nil && len(messages) == 1 && messages[0].Method == "initialize" {
			x.fresh = true
			x.enterStream()
		}
	}
	t := x.resolveSession(nil)
	x.gate = t.gate
	if x.p.sessions.nameless(t) {
		// Without a session, two clients may use the same ids.
		x.gate = t.gate.Exchange()
		if x.p.opts.Named && !x.p.named(x.r.Header) {
			x.gate = t.gate.Unproven()
		}
	}
}

// judgeAnswer reads a server's answer and lets the gate say what the client gets. One
// that need not be a message, such as a failure's own text, is searched for secrets
// at least, but for those of the authorization, which are what it is for.
func (x *exchange) judgeAnswer(r *http.Response, message bool) error {
	raw, err := readBody(r.Body)
	if errors.Is(err, errLong) && !x.p.opts.Gate.Closed() {
		x.put(session.WireFrame{Dir: session.S2C, At: time.Now(), Raw: append(raw[:wire.HeadSize:wire.HeadSize], "… [cut]"...),
			Gate: &session.Gate{Action: "gate_skipped", Reason: "the body is " + errLong.Error()}})
		r.Body = putBack(raw, r.Body)
		return nil
	}
	if err != nil {
		return fmt.Errorf("coalmine gate: the answer cannot be read: %w", err)
	}
	r.Body.Close()
	var v gate.Verdict
	switch {
	case message || mayBeMessage(raw):
		v = x.gate.Server(raw)
	case x.authorization:
		r.Body = io.NopCloser(bytes.NewReader(raw))
		return nil
	default:
		v = x.gate.Text(raw)
	}
	// What is no message of the protocol is HTTP's own, and stands in no log.
	if v.Mark != nil || message || mayBeMessage(raw) {
		x.put(session.WireFrame{Dir: session.S2C, At: time.Now(), Raw: raw, Gate: v.Mark})
	}
	if v.Pass == nil {
		return errors.New("coalmine gate: the answer was stopped")
	}
	if v.Changed {
		x.put(session.WireFrame{Dir: session.S2C, At: time.Now(), Raw: v.Pass, Gate: v.Injected})
		r.Header.Set("Content-Length", strconv.Itoa(len(v.Pass)))
		r.ContentLength = int64(len(v.Pass))
	}
	r.Body = io.NopCloser(bytes.NewReader(v.Pass))
	return nil
}
