package sinkhole

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestMessagesAreAnswered(t *testing.T) {
	fits := []Fit{{Words: []string{"rpc.example/"}, Body: `{"height":12}`}}
	for name, c := range map[string]struct {
		url  string
		turn Turn
		say  string
		want []string // JSON, or what is no JSON as it is
	}{
		"JSON-RPC":                     {"http://rpc.example/ws", TurnFit, `{"jsonrpc":"2.0","id":7,"method":"block"}`, []string{`{"jsonrpc":"2.0","id":7,"result":{"height":12}}`}},
		"a browser's debugger":         {"http://x.example/devtools", TurnFit, `{"id":1,"method":"Page.enable","params":{}}`, []string{`{"id":1,"result":{"id":"1024","name":"Autumn","status":"ok"}}`}},
		"of no known protocol":         {"http://rpc.example/ws", TurnFit, `{"requestId":"a1","action":"list"}`, []string{`{"requestId":"a1","action":"list","type":"response","success":true,"status":"ok","result":{"height":12},"data":{"height":12},"height":12}`}},
		"a ping":                       {"http://x.example/", TurnFit, `{"type":"ping","id":3}`, []string{`{"type":"pong","id":3}`}},
		"Home Assistant's credentials": {"http://ha.example/api/websocket", TurnFit, `{"type":"auth","access_token":"x"}`, []string{`{"type":"auth_ok"}`}},
		"Home Assistant's command":     {"http://ha.example/api/websocket", TurnFit, `{"id":2,"type":"get_states"}`, []string{`{"id":2,"type":"result","success":true,"status":"ok","result":{"id":"1024","name":"Autumn","status":"ok"},"data":{"id":"1024","name":"Autumn","status":"ok"}}`}},
		"a refusal":                    {"http://rpc.example/ws", TurnRefused, `{"jsonrpc":"2.0","id":7,"method":"block"}`, []string{`{"jsonrpc":"2.0","id":7,"success":false,"error":{"code":401,"message":"Authentication is required."}}`}},
		"the start of GraphQL":         {"http://x.example/graphql", TurnFit, `{"type":"connection_init","payload":{}}`, []string{`{"type":"connection_ack"}`}},
		"a subscription":               {"http://x.example/graphql", TurnFit, `{"id":"1","type":"subscribe","payload":{"query":"{ name }"}}`, []string{`{"id":"1","type":"next","payload":{"data":{"name":"Autumn"}}}`, `{"id":"1","type":"complete"}`}},
		"the older subscription":       {"http://x.example/graphql", TurnFit, `{"id":"1","type":"start","payload":{"query":"{ name }"}}`, []string{`{"id":"1","type":"data","payload":{"data":{"name":"Autumn"}}}`, `{"id":"1","type":"complete"}`}},
		"a packet's ping":              {"http://x.example/socket.io/?EIO=4", TurnFit, "2probe", []string{"3probe"}},
		"a packet's connection":        {"http://x.example/socket.io/?EIO=4", TurnFit, "40/admin,{}", []string{"40/admin,{" + engineSession + "}"}},
		"an event with a number":       {"http://rpc.example/socket.io/?EIO=4", TurnFit, `4212["list",{}]`, []string{`4312[{"height":12}]`}},
		"an event without":             {"http://x.example/socket.io/?EIO=4", TurnFit, `42["list",{}]`, nil},
		"no JSON":                      {"http://x.example/", TurnFit, "hello", nil},
		"a list":                       {"http://x.example/", TurnFit, "[1]", nil},
	} {
		turning := &Turning{}
		turning.Set(Served{Turn: c.turn})
		r := httptest.NewRequest(http.MethodGet, c.url, nil)
		config := Config{Fits: fits, Turning: turning}
		got := config.messagesFor(r, r.Host).answer([]byte(c.say))
		if len(got) != len(c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
			continue
		}
		for i := range got {
			var a, b any
			if json.Unmarshal([]byte(got[i]), &a) != nil || json.Unmarshal([]byte(c.want[i]), &b) != nil {
				a, b = got[i], c.want[i]
			}
			if !reflect.DeepEqual(a, b) {
				t.Errorf("%s: %s, want %s", name, got[i], c.want[i])
			}
		}
	}
}

func TestAServiceSpeaksFirst(t *testing.T) {
	for url, want := range map[string]string{
		"http://x.example/socket.io/?EIO=4&transport=websocket": `0{"sid"`, "http://ha.example/api/websocket": "auth_required", "http://x.example/ws": "",
	} {
		r := httptest.NewRequest(http.MethodGet, url, nil)
		if m := new(Config).messagesFor(r, r.Host); !strings.Contains(m.hello, want) || (want == "") != (m.hello == "") {
			t.Errorf("%s: %q", url, m.hello)
		}
	}
}

// A message comes in any number of frames; what is too long or no text is not answered.
func TestMessagesAreWhole(t *testing.T) {
	client := func(op byte, last bool, p string) []byte {
		out := frame(op, []byte(p))
		if !last {
			out[0] &^= 128
		}
		head := len(out) - len(p)
		out[1] |= 128
		return slices.Concat(out[:head], make([]byte, 4), []byte(p)) // a mask that changes nothing
	}
	long := strings.Repeat("a", maxMessage)
	in := bytes.Join([][]byte{
		client(opText, true, "one"), client(opText, false, "t"), client(opPing, true, "now"), client(0, false, "w"), client(0, true, "o"),
		client(2, true, "bytes"), client(opText, true, long+"a"), client(opText, true, long), client(opText, false, "end"), client(0, true, ""),
	}, nil)
	var got, pongs []string
	w := whole{say: func(message []byte) { got = append(got, string(message)) }}
	_ = frames(bytes.NewReader(in), make([]byte, 100), w.take, func(op byte, p []byte) { pongs = append(pongs, string(p)) })
	if want := []string{"one", "two", long, "end"}; !reflect.DeepEqual(got, want) || !reflect.DeepEqual(pongs, []string{"now"}) {
		t.Errorf("%d messages, %q", len(got), pongs)
	}
}
