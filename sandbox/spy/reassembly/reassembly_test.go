package reassembly

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// script feeds an Engine by hand.
type script struct {
	e        *Engine
	at       map[Key]uint64
	now      time.Duration
	got      []string
	verdicts map[Key]Verdict
	ended    int
	// inode is what the inodes of sockets begin at.
	inode uint64
}

// inodeOf is the inode of the socket at one end of a stream.
func (s *script) inodeOf(end [16]byte) uint64 { return s.inode + uint64(end[0]) }

const (
	clientPID = 10
	serverPID = 20
)

func newScript() *script {
	s := &script{at: map[Key]uint64{}, verdicts: map[Key]Verdict{}, now: time.Second}
	s.e = New(Options{
		Verdict: func(k Key, v Verdict) { s.verdicts[k] = v },
		Emit: func(m *Message) {
			s.got = append(s.got, fmt.Sprintf("%d %s %s %d>%d %s", m.Conversation.ID, m.Conversation.Transport, m.Dir, m.From.PID, m.To.PID, m.Raw))
		},
		Ended: func(*Conversation) { s.ended++ },
	})
	return s
}

func pipe(n byte) Key { return Key{Kind: Pipe, From: [16]byte{n}} }

func unix(from, to byte) Key { return Key{Kind: Unix, From: [16]byte{from}, To: [16]byte{to}} }

func tcp(from uint16) Key {
	loop := [16]byte{10: 0xff, 11: 0xff, 12: 127, 15: 1}
	return Key{Kind: TCP, From: loop, To: loop, FromPort: from, ToPort: 80}
}

// write is what a process writes.
func (s *script) write(k Key, pid int, text string) { s.writeFD(k, pid, 9, text) }

func (s *script) writeFD(k Key, pid int, fd int32, text string) {
	_, known := s.at[k]
	s.now += time.Millisecond
	s.e.Take(&Chunk{Key: k, Time: s.now, At: s.at[k], Start: !known, FD: fd, Inode: s.inodeOf(k.From), Process: Process{PID: pid, Comm: "p"}, Data: []byte(text)})
	s.at[k] += uint64(len(text))
}

// replaced says that the sockets of two keys are gone, and that others have their addresses.
func (s *script) replaced(keys ...Key) {
	s.inode += 100
	for _, k := range keys {
		delete(s.at, k)
	}
}

// read is that a process has read.
func (s *script) read(k Key, pid int, fd int32) {
	s.now += time.Millisecond
	s.e.Take(&Chunk{Key: k, Time: s.now, At: s.at[k], Met: true, FD: fd, Inode: s.inodeOf(k.To), Process: Process{PID: pid, Comm: "p"}})
}

func (s *script) want(t *testing.T, want ...string) {
	t.Helper()
	s.e.Advance(s.now+time.Second, true)
	s.e.Close()
	if !slices.Equal(s.got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(s.got, "\n"), strings.Join(want, "\n"))
	}
}

const (
	hello  = `{"jsonrpc":"2.0","id":1,"method":"initialize"}`
	answer = `{"result":{},"jsonrpc":"2.0","id":1}`
	note   = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
)

func TestStdio(t *testing.T) {
	t.Parallel()
	for name, k := range map[string][2]Key{"pipes": {pipe(1), pipe(2)}, "pairs of sockets": {unix(1, 2), unix(3, 4)}} {
		s := newScript()
		s.write(k[0], clientPID, hello+"\n")
		s.read(k[0], serverPID, 0)
		s.writeFD(k[1], serverPID, 1, answer+"\r\n")
		s.read(k[1], clientPID, 7)
		s.write(k[0], clientPID, note+"\n")
		s.want(t, "1 stdio c2s 10>20 "+hello, "1 stdio s2c 20>10 "+answer, "1 stdio c2s 10>20 "+note)
		if s.ended != 1 || s.e.Lost != 0 {
			t.Errorf("%s: %d ended, %d bytes lost", name, s.ended, s.e.Lost)
		}
	}
}

// Two sockets between the same processes, on which both sides speak, are two conversations.
func TestSockets(t *testing.T) {
	t.Parallel()
	s := newScript()
	for _, n := range []byte{1, 3} {
		k := unix(n, n+1)
		s.write(k, clientPID, hello+"\n")
		s.read(k, serverPID, 8)
		s.write(k.Back(), serverPID, answer+"\n")
		s.read(k.Back(), clientPID, 8)
	}
	s.want(t, "1 unix c2s 10>20 "+hello, "1 unix s2c 20>10 "+answer, "2 unix c2s 10>20 "+hello, "2 unix s2c 20>10 "+answer)
}

// The kernel gives the addresses of sockets that are closed to new ones: those are another conversation, whichever
// end has which address.
func TestAddressesOfSocketsAreUsedAgain(t *testing.T) {
	for name, again := range map[string][2]Key{"as before": {unix(1, 2), unix(3, 4)}, "ends swapped": {unix(2, 1), unix(4, 3)}, "pairs swapped": {unix(4, 3), unix(1, 2)}, "later": {unix(2, 1), unix(4, 3)}} {
		t.Run(name, func(t *testing.T) {
			s := newScript()
			dead := name == "later"
			s.e.opts.Alive = func(int) bool { return !dead }
			talk := func(to, from Key, client, server int) {
				s.writeFD(to, client, 20, hello+"\n")
				s.read(to, server, 0)
				s.writeFD(from, server, 1, answer+"\n")
				s.read(from, client, 21)
			}
			talk(unix(1, 2), unix(3, 4).Back(), 10, 20)
			if dead { // long enough for the streams to be forgotten, not the conversation
				for _, step := range []time.Duration{200 * time.Millisecond, 1100 * time.Millisecond} {
					s.now += step
					s.e.Advance(s.now, true)
				}
			}
			s.replaced(unix(1, 2), unix(3, 4).Back(), again[0], again[1].Back())
			talk(again[0], again[1].Back(), 11, 21)
			s.want(t, "1 stdio c2s 10>20 "+hello, "1 stdio s2c 20>10 "+answer, "2 stdio c2s 11>21 "+hello, "2 stdio s2c 21>11 "+answer)
			if s.ended != 2 {
				t.Errorf("%d conversations have ended", s.ended)
			}
		})
	}
}

// Messages come whole, however they are written, and in the order in which the calls began.
func TestPieces(t *testing.T) {
	t.Parallel()
	big := `{"jsonrpc":"2.0","id":2,"result":"` + strings.Repeat("x", 3<<20) + `"}`
	batch := "[" + note + "," + hello + "]"
	s := newScript()
	s.read(pipe(1), serverPID, 0)
	s.write(pipe(2), serverPID, answer[:5])
	s.read(pipe(2), clientPID, 7)
	s.write(pipe(2), serverPID, answer[5:]+"\n"+batch+"\n")
	for i := 0; i < len(big); i += 16 << 10 {
		s.write(pipe(2), serverPID, big[i:min(len(big), i+16<<10)])
	}
	s.write(pipe(2), serverPID, "\n")
	// The call began before all others, and returned after them.
	s.e.Take(&Chunk{Key: pipe(1), Time: time.Second, Start: true, Process: Process{PID: clientPID, Comm: "p"}, Data: []byte(hello + "\n")})
	s.want(t, "1 stdio c2s 10>20 "+hello, "1 stdio s2c 20>10 "+answer, "1 stdio s2c 20>10 "+batch, "1 stdio s2c 20>10 "+big)
}

// A piece that is missing costs the message that it was in, and is counted.
func TestGap(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.write(pipe(1), clientPID, hello+"\n")
	s.read(pipe(1), serverPID, 0)
	s.at[pipe(1)] += 100
	s.write(pipe(1), clientPID, "the rest\n"+note+"\n")
	s.want(t, "1 stdio c2s 10>20 "+hello, "1 stdio c2s 10>20 "+note)
	if s.e.Lost != 100 {
		t.Errorf("%d bytes are counted", s.e.Lost)
	}
}

// What a reader tells again of what its writer told is taken once.
func TestReaderGoesOn(t *testing.T) {
	t.Parallel()
	s := newScript()
	s.write(pipe(1), clientPID, hello+"\n"+note[:9])
	s.now += time.Millisecond
	s.e.Take(&Chunk{Key: pipe(1), Time: s.now, At: uint64(len(hello) + 1), Read: true, Process: Process{PID: serverPID, Comm: "p"}, Data: []byte(note + "\n")})
	s.want(t, "1 stdio c2s 10>20 "+hello, "1 stdio c2s 10>20 "+note)
}

func TestOtherStreamsAreLeftAlone(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"id":1,"level":"info"}` + "\n", `{"jsonrpc":"1.0","method":"x"}` + "\n", "[1]\n"} {
		s := newScript()
		s.write(pipe(1), clientPID, text)
		s.read(pipe(1), serverPID, 0)
		s.want(t)
		if s.verdicts[pipe(1)] == 0 {
			t.Errorf("%s: the stream is followed on", text)
		}
	}
}

func post(body, more string) string {
	return fmt.Sprintf("POST /mcp HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", more, len(body), body)
}

func TestHTTP(t *testing.T) {
	t.Parallel()
	s := newScript()
	up, down := tcp(1000), tcp(1000).Back()
	event := "event: message\ndata: " + answer + "\n\n"
	turn := func(request, reply string) {
		s.write(up, clientPID, request)
		s.read(up, serverPID, 5)
		s.write(down, serverPID, reply)
		s.read(down, clientPID, 5)
	}
	turn(post(hello, ""), "HTTP/1.1 200 OK\r\nMcp-Session-Id: s\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"+
		fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", len(event), event))
	turn(post(note, "Mcp-Session-Id: s\r\n"), "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
	turn(post(hello, "Mcp-Session-Id: s\r\n"), fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(answer), answer))
	turn("GET /page HTTP/1.1\r\nHost: h\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\npage")
	s.want(t, "1 http c2s 10>20 "+hello, "1 http s2c 20>10 "+answer, "1 http c2s 10>20 "+note, "1 http c2s 10>20 "+hello, "1 http s2c 20>10 "+answer)
}

func TestSSE(t *testing.T) {
	t.Parallel()
	s := newScript()
	events, up := tcp(1000), tcp(2000)
	s.write(events, clientPID, "GET /sse HTTP/1.1\r\nHost: h\r\nAccept: text/event-stream\r\n\r\n")
	s.read(events, serverPID, 5)
	s.write(events.Back(), serverPID, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\nevent: endpoint\ndata: /mcp\n\n")
	s.read(events.Back(), clientPID, 5)
	s.write(up, clientPID, post(note, ""))
	s.read(up, serverPID, 6)
	s.write(up.Back(), serverPID, "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
	s.write(events.Back(), serverPID, "data: "+answer+"\n\n")
	s.want(t, "1 sse s2c 20>10 /mcp", "1 sse c2s 10>20 "+note, "1 sse s2c 20>10 "+answer)
}

// FuzzEngine writes anything to two pipes and both directions of a connection, in pieces.
// A message that is too long is handed on with its beginning and its length, and counted.
func TestLongMessagesAreCounted(t *testing.T) {
	t.Parallel()
	long := `{"jsonrpc":"2.0","method":"` + strings.Repeat("x", maxMessage) + `"}`
	zipped := func(text string) string {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		_, _ = z.Write([]byte(text))
		_ = z.Close()
		return b.String()
	}
	reply := func(kind, more, text string) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: %d\r\n%s\r\n%s", kind, len(text), more, text)
	}
	for name, c := range map[string]struct {
		play func(s *script)
		cut  int64
	}{
		"a line":           {func(s *script) { s.write(pipe(1), clientPID, long+"\n"); s.read(pipe(1), serverPID, 0) }, 1},
		"a line that fits": {func(s *script) { s.write(pipe(1), clientPID, hello+"\n"); s.read(pipe(1), serverPID, 0) }, 0},
		"a request's body": {func(s *script) {
			s.write(tcp(9), clientPID, post(long, ""))
			s.write(tcp(9).Back(), serverPID, reply("application/json", "", answer))
		}, 1},
		"an answer's body": {func(s *script) {
			s.write(tcp(9), clientPID, post(hello, ""))
			s.write(tcp(9).Back(), serverPID, reply("application/json", "", long))
		}, 1},
		"an event": {func(s *script) {
			s.write(tcp(9), clientPID, post(hello, ""))
			s.write(tcp(9).Back(), serverPID, reply("text/event-stream", "", "data: "+long+"\n\n"))
		}, 1},
		"an unpacked body": {func(s *script) {
			s.write(tcp(9), clientPID, post(hello, ""))
			s.write(tcp(9).Back(), serverPID, reply("application/json", "Content-Encoding: gzip\r\n", zipped(long)))
		}, 1},
		"a body that fits": {func(s *script) {
			s.write(tcp(9), clientPID, post(hello, ""))
			s.write(tcp(9).Back(), serverPID, reply("application/json", "Content-Encoding: gzip\r\n", zipped(answer)))
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScript()
			c.play(s)
			s.e.Advance(s.now+time.Second, true)
			s.e.Close()
			if s.e.Cut != c.cut || len(s.got) == 0 {
				t.Errorf("%d messages are cut, of %d", s.e.Cut, len(s.got))
			}
			for _, m := range s.got {
				if c.cut > 0 && len(m) > 1000 && !strings.Contains(m, "[cut: the ") {
					t.Errorf("%d bytes: %.100s", len(m), m)
				}
			}
		})
	}
}

func FuzzEngine(f *testing.F) {
	f.Add([]byte(hello+"\n"), []byte(post(hello, "")), uint8(7))
	f.Add([]byte("[\n{"), []byte("GET / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n"), uint8(1))
	f.Fuzz(func(t *testing.T, lines, web []byte, size uint8) {
		s := newScript()
		n := int(size) + 1
		for i := 0; i < max(len(lines), len(web)); i += n {
			piece := func(p []byte) string { return string(p[min(i, len(p)):min(i+n, len(p))]) }
			s.write(pipe(1), clientPID, piece(lines))
			s.write(tcp(1), clientPID, piece(web))
			s.write(tcp(1).Back(), serverPID, "HTTP/1.1 200 OK\r\n\r\n"+piece(lines))
		}
		s.read(pipe(1), serverPID, 0)
		s.e.Close()
		if s.e.buffered < 0 {
			t.Errorf("%d bytes are held", s.e.buffered)
		}
		for _, line := range s.got {
			if !strings.Contains(line, string(session.C2S)) && !strings.Contains(line, string(session.S2C)) {
				t.Errorf("a message has no direction: %s", line)
			}
		}
	})
}
