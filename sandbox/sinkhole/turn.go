package sinkhole

import (
	"encoding/json"
	"net/http"
	"sync/atomic"
)

// Turn is a kind of answer to HTTP requests: another is tried where the client gets
// nowhere with the first.
type Turn int32

// The turns.
const (
	// TurnFit is what the host, the client's code or its header promises.
	TurnFit Turn = iota
	// TurnOther is other JSON: the same below members that often wrap it.
	TurnOther
	// TurnPage is a page of HTML.
	TurnPage
	// TurnEmpty is a success without content.
	TurnEmpty
	// TurnRefused is a refusal for want of a right.
	TurnRefused
	// TurnFailed is a fault of the service.
	TurnFailed
	// Turns is how many there are.
	Turns
)

// Turning is the turn that is served, and the answer that fits the call under way; another
// goroutine may change both. The zero value and nil are TurnFit without such an answer.
type Turning struct {
	now  atomic.Int32
	fits atomic.Pointer[string]
}

// Fit has requests that nothing else is known of answered with a JSON object's members, "" for
// none.
func (t *Turning) Fit(body string) { t.fits.Store(&body) }

func (t *Turning) fit() string {
	if t == nil {
		return ""
	}
	if body := t.fits.Load(); body != nil {
		return *body
	}
	return ""
}

// Set has the next requests answered in a turn; one that does not exist is TurnFit.
func (t *Turning) Set(turn Turn) {
	if turn < 0 || turn >= Turns {
		turn = TurnFit
	}
	t.now.Store(int32(turn))
}

func (t *Turning) get() Turn {
	if t == nil {
		return TurnFit
	}
	return Turn(t.now.Load())
}

// turned is the answer of a turn in place of p, the fitting one. html is the page of the host.
func turned(turn Turn, p, html page) page {
	const kind = "application/json"
	switch turn {
	case TurnOther:
		return page{status: http.StatusOK, kind: kind, body: wrapped(p.body)}
	case TurnPage:
		return html
	case TurnEmpty:
		return page{status: http.StatusOK, kind: kind, body: "{}"}
	case TurnRefused:
		return page{status: http.StatusUnauthorized, kind: kind, body: `{"error":"unauthorized","message":"Authentication is required.","status":401}`,
			header: map[string]string{"Www-Authenticate": "Bearer"}}
	case TurnFailed:
		return page{status: http.StatusServiceUnavailable, kind: kind, body: `{"error":"unavailable","message":"Try again later.","status":503}`,
			header: map[string]string{"Retry-After": "1"}}
	}
	return p
}

// wrapped is a JSON value below the members that services most often wrap it in, and
// its own members beside them.
func wrapped(body string) string {
	var value any
	if json.Unmarshal([]byte(body), &value) != nil {
		value = map[string]any{"id": "1024", "name": "Autumn", "status": "ok"}
	}
	list, ok := value.([]any)
	if !ok {
		list = []any{value}
	}
	out := map[string]any{"data": value, "result": value, "response": value, "results": list, "items": list, "success": true, "status": "success"}
	if own, ok := value.(map[string]any); ok {
		for name, v := range own {
			if _, empty := v.([]any); !empty || out[name] == nil {
				out[name] = v
			}
		}
	}
	text, err := json.Marshal(out)
	if err != nil {
		return body
	}
	return string(text)
}
