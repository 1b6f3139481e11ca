package plaintext

import (
	"bytes"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"github.com/coalmine-dev/coalmine/sandbox/spy/reassembly"
	"github.com/coalmine-dev/coalmine/sandbox/trace/tlsread"
)

// world reassembles what Connections hand on.
type world struct {
	conns    *Connections
	engine   *reassembly.Engine
	now      time.Duration
	messages []string
	lost     uint64
}

func newWorld() *world {
	w := &world{now: time.Second}
	w.engine = reassembly.New(reassembly.Options{
		Verdict: func(k reassembly.Key, v reassembly.Verdict) { w.conns.Judge(k, v) },
		Emit: func(m *reassembly.Message) {
			w.messages = append(w.messages, fmt.Sprintf("%d %s %d>%d %s", m.Conversation.ID, m.Dir, m.From.PID, m.To.PID, m.Raw))
		},
	})
	w.conns = New(Options{
		Take:    func(c *reassembly.Chunk) { w.engine.Take(c) },
		Process: func(pid int) reassembly.Process { return reassembly.Process{PID: pid, Comm: fmt.Sprint(pid)} },
		Alive:   func(pid int) bool { return pid < 1000 },
		Lose:    func(n uint64, _ string) { w.lost += n },
	})
	return w
}

var (
	clientAt = netip.MustParseAddrPort("127.0.0.1:40000")
	serverAt = netip.MustParseAddrPort("127.0.0.1:443")
)

// side is one end of a connection, and what it has sent and got so far.
type side struct {
	w           *world
	conn        uint64
	pid         int
	here, there netip.AddrPort
	sent, got   int64
}

func (w *world) sides(conn uint64) (client, server *side) {
	return &side{w: w, conn: conn, pid: 1, here: clientAt, there: serverAt}, &side{w: w, conn: conn + 1, pid: 2, here: serverAt, there: clientAt}
}

func (s *side) piece(kind tlsread.Kind, at int64, data string) {
	s.w.now += time.Millisecond
	s.w.conns.Piece(&tlsread.Piece{Kind: kind, Time: s.w.now, Conn: s.conn, PID: s.pid, Source: s.here, Dest: s.there, Offset: at, Data: []byte(data), Whole: true})
	s.w.engine.Advance(s.w.now, true)
}

func (s *side) sends(data string) {
	s.piece(tlsread.Sent, s.sent, data)
	s.sent += int64(len(data))
}

func (s *side) gets(data string) {
	s.piece(tlsread.Received, s.got, data)
	s.got += int64(len(data))
}

func (w *world) end() []string {
	w.engine.Close()
	return w.messages
}

const (
	ask    = `{"jsonrpc":"2.0","id":1,"method":"tools/list"}`
	answer = `{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}`
)

func post(body string) string {
	return fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: h.example\r\nMcp-Session-Id: s\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

func reply(body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

func check(t *testing.T, w *world, want ...string) {
	t.Helper()
	if got := w.end(); !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestOneEnd(t *testing.T) {
	w := newWorld()
	client, _ := w.sides(10)
	client.sends(post(ask)[:30])
	client.sends(post(ask)[30:])
	client.gets(reply(answer))
	client.piece(tlsread.Closed, 0, "")
	if len(w.conns.ends)+len(w.conns.owned)+len(w.conns.streams) > 0 {
		t.Errorf("a closed connection is kept: %+v", w.conns)
	}
	check(t, w, "1 c2s 1>0 "+ask, "1 s2c 0>1 "+answer)
}

// Where both ends are on the machine, each message comes once, with both processes.
func TestBothEnds(t *testing.T) {
	w := newWorld()
	client, server := w.sides(10)
	for range 2 {
		client.sends(post(ask))
		server.gets(post(ask))
		server.sends(reply(answer))
		client.gets(reply(answer))
	}
	check(t, w, "1 c2s 1>2 "+ask, "1 s2c 2>1 "+answer, "1 c2s 1>2 "+ask, "1 s2c 2>1 "+answer)
}

// Other requests on the same connection hide none of MCP's, nor is anything kept of another protocol.
func TestOtherTraffic(t *testing.T) {
	w := newWorld()
	client, _ := w.sides(10)
	for range 2 {
		client.sends("GET /logo.png HTTP/1.1\r\nHost: h.example\r\n\r\n")
		client.gets("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nPNG")
		client.sends(post(ask))
		client.gets(reply(answer))
	}
	smtp, _ := w.sides(20)
	smtp.here = netip.MustParseAddrPort("127.0.0.1:40001")
	smtp.gets("220 mail.example ESMTP\r\n")
	smtp.sends("EHLO x\r\n")
	check(t, w, "1 c2s 1>0 "+ask, "1 s2c 0>1 "+answer, "1 c2s 1>0 "+ask, "1 s2c 0>1 "+answer)
}

// The ends of processes that were killed make room.
func TestCrowd(t *testing.T) {
	w := newWorld()
	for i := range maxConnections + 10 {
		client, _ := w.sides(uint64(10 + 2*i))
		client.pid, client.here = 1000+i, netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), 4000)
		client.sends("x")
	}
	if n := len(w.conns.ends); n > 10 || w.lost > 0 {
		t.Errorf("%d are kept, %d bytes were lost", n, w.lost)
	}
	w.end()
}

// peer writes HTTP/2 for one direction.
type peer struct {
	buf    bytes.Buffer
	framer *http2.Framer
	fields *hpack.Encoder
	block  bytes.Buffer
}

func newPeer() *peer {
	p := &peer{}
	p.framer = http2.NewFramer(&p.buf, nil)
	p.fields = hpack.NewEncoder(&p.block)
	return p
}

// head writes a head, cut into two frames.
func (p *peer) head(id uint32, ends bool, fields ...string) {
	p.block.Reset()
	for i := 0; i < len(fields); i += 2 {
		_ = p.fields.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	b := p.block.Bytes()
	_ = p.framer.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: b[:len(b)/2], EndStream: ends, PadLength: 3, Priority: http2.PriorityParam{Weight: 9}})
	_ = p.framer.WriteContinuation(id, true, b[len(b)/2:])
}

// take is what was written since.
func (p *peer) take() string {
	s := p.buf.String()
	p.buf.Reset()
	return s
}

func TestHTTP2(t *testing.T) {
	w := newWorld()
	client, server := w.sides(10)
	asks, answers := newPeer(), newPeer()
	_ = answers.framer.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 100})
	first := answers.take()
	server.sends(first) // before it has read anything
	client.sends(http2.ClientPreface)
	_ = asks.framer.WriteSettings()
	request := func(id uint32) {
		asks.head(id, false, ":method", "POST", ":path", "/mcp", ":authority", "h.example", "mcp-session-id", "s", "content-type", "application/json")
		_ = asks.framer.WriteDataPadded(id, true, []byte(ask), make([]byte, 5))
	}
	reply := func(id uint32) {
		answers.head(id, false, ":status", "200", "content-type", "text/event-stream")
		_ = answers.framer.WriteData(id, false, []byte("data: "+answer[:20]))
		_ = answers.framer.WriteData(id, false, []byte(answer[20:]+"\n\n"))
		answers.head(id, true, "grpc-status", "0") // a trailer
	}
	// Two exchanges at once, then one that takes the place of one of them, and one that is broken off.
	request(1)
	request(3)
	asks.head(5, true, ":method", "GET", ":path", "/logo.png", ":authority", "h.example")
	text := http2.ClientPreface + asks.take()
	server.gets(http2.ClientPreface)
	for _, r := range slices.Collect(slices.Chunk([]byte(text[len(http2.ClientPreface):]), 7)) {
		client.sends(string(r))
		server.gets(string(r))
	}
	reply(3)
	reply(1)
	answers.head(5, false, ":status", "103")
	answers.head(5, false, ":status", "200", "content-type", "image/png")
	_ = answers.framer.WriteData(5, true, []byte("PNG"))
	server.sends(answers.take())
	request(7)
	_ = asks.framer.WriteRSTStream(7, http2.ErrCodeCancel)
	request(9)
	server.gets(asks.take())
	reply(9)
	server.sends(answers.take())
	server.piece(tlsread.Closed, 0, "")
	var asked, answered int
	for _, m := range w.end() {
		switch {
		case strings.HasSuffix(m, "c2s 1>2 "+ask), strings.HasSuffix(m, "c2s 0>2 "+ask):
			asked++
		case strings.HasSuffix(m, "s2c 2>1 "+answer), strings.HasSuffix(m, "s2c 2>0 "+answer):
			answered++
		default:
			t.Errorf("%q", m)
		}
	}
	if asked != 4 || answered != 3 || w.lost != 0 {
		t.Errorf("%d requests and %d answers, %d lost: %q", asked, answered, w.lost, w.messages)
	}
}

// A connection whose frames cannot be followed is counted, once.
func TestHTTP2Breaks(t *testing.T) {
	for name, then := range map[string]string{
		"a frame without end":    "\xff\xff\xff\x00\x00\x00\x00\x00\x01",
		"a head that is none":    "\x00\x00\x01\x01\x04\x00\x00\x00\x01\xff",
		"padding past the frame": "\x00\x00\x01\x00\x08\x00\x00\x00\x01\x09",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			client, _ := w.sides(10)
			client.sends(http2.ClientPreface + then + then)
			client.sends(then)
			client.piece(tlsread.Closed, 0, "")
			if w.lost != 1 || len(w.conns.streams) > 0 {
				t.Errorf("%d losses, %d streams", w.lost, len(w.conns.streams))
			}
			w.end()
		})
	}
	w := newWorld()
	client, _ := w.sides(10)
	client.sends(http2.ClientPreface)
	client.sent += 5
	client.sends("\x00\x00\x00\x04\x00\x00\x00\x00\x00")
	if w.lost != 1 {
		t.Errorf("a gap: %d losses", w.lost)
	}
	w.end()
}

// Whatever a peer sends, a connection stays within its bounds.
func FuzzHTTP2(f *testing.F) {
	p := newPeer()
	p.head(1, false, ":method", "POST", ":path", "/mcp", ":authority", "h.example")
	_ = p.framer.WriteData(1, true, []byte(ask))
	f.Add([]byte(p.take()), []byte("\x00\x00\x00\x04\x00\x00\x00\x00\x00"), 3)
	f.Fuzz(func(t *testing.T, sent, got []byte, cut int) {
		w := newWorld()
		client, _ := w.sides(10)
		client.sends(http2.ClientPreface)
		for len(sent)+len(got) > 0 {
			n := min(len(sent), max(1, cut))
			client.sends(string(sent[:n]))
			sent = sent[n:]
			n = min(len(got), max(1, cut))
			client.gets(string(got[:n]))
			got = got[n:]
		}
		if h := w.conns.ends[10].of.web; len(h.open) > maxExchanges || len(h.sent.head)+len(h.got.head) > 2*maxFields {
			t.Errorf("%d exchanges, %d bytes of heads", len(h.open), len(h.sent.head)+len(h.got.head))
		}
		client.piece(tlsread.Closed, 0, "")
		if len(w.conns.streams)+len(w.conns.owned) > 0 {
			t.Errorf("a closed connection is kept")
		}
		w.end()
	})
}
