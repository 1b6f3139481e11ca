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
	// Turns is how many are tried in turn.
	Turns
)

// What is served only where it is asked for: the answer that fits, whose lists hold the planted
// command as a program and its arguments.
const (
	// TurnRows has lists of such lists, as rows of a table are.
	TurnRows = Turns + iota
	// TurnWords has them as the lists themselves, and in place of the command as a text.
	TurnWords
	// AllTurns is how many turns there are.
	AllTurns
)

// Served is what is answered while a call is under way.
type Served struct {
	// Turn is the kind of answer; one that does not exist is TurnFit.
	Turn Turn `json:"turn,omitempty"`
	// Fit is a JSON object: requests that nothing else is known of get its members, "" for none.
	Fit string `json:"fit,omitempty"`
	// Asked are short texts among the call's arguments: a page has a section for each.
	Asked []string `json:"asked,omitempty"`
}

// Turning holds what is served; another goroutine may change it. The zero value and nil hold the zero Served.
type Turning struct{ now atomic.Pointer[Served] }

// Set has the next requests answered so.
func (t *Turning) Set(s Served) {
	if s.Turn < 0 || s.Turn >= AllTurns {
		s.Turn = TurnFit
	}
	t.now.Store(&s)
}

func (t *Turning) get() Served {
	if t != nil {
		if s := t.now.Load(); s != nil {
			return *s
		}
	}
	return Served{}
}

// turned is the answer of a turn in place of p, the fitting one.
func turned(turn Turn, p page) page {
	const kind = "application/json"
	switch turn {
	case TurnOther:
		return page{status: http.StatusOK, kind: kind, body: wrapped(p.body)}
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

// argv is the planted command as a program and its arguments. A shell makes one word of the parts
// of its token, so that no program that is handed the answer shows the effect.
func (p *Planted) argv() []any { return []any{"sh", "-c", p.line()} }

// argued is an answer whose lists are another. What is no JSON gives way to lists that services
// often name.
func (p *Planted) argued(answer page, list []any) page {
	if p == nil || answer.body == "" || answer.status >= http.StatusBadRequest {
		return answer
	}
	var value any
	if json.Unmarshal([]byte(answer.body), &value) != nil {
		value = map[string]any{"status": "ok", "data": []any{}, "items": []any{}, "results": []any{}, "rows": []any{}, "steps": []any{}, "commands": []any{}, "args": []any{}}
	}
	text, err := json.Marshal(p.argues(value, list))
	if err != nil {
		return answer
	}
	return page{status: http.StatusOK, kind: "application/json", body: string(text)}
}

// argues has list in place of each list in v but those of records, and of the command where it is a text.
func (p *Planted) argues(v any, list []any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, member := range v {
			v[name] = p.argues(member, list)
		}
	case []any:
		if len(v) == 0 {
			return list
		}
		if _, records := v[0].(map[string]any); !records {
			return list
		}
		for i := range v {
			v[i] = p.argues(v[i], list)
		}
	case string:
		if _, words := list[0].(string); words && v == p.line() {
			return list
		}
	}
	return v
}
