package run

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/cmd/internal/probe/plan"
	"github.com/coalmine-dev/coalmine/sandbox/mux"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

const (
	// maxAsked bounds the ports of TCP that are spoken to, maxAskedMore those of UDP and the unix
	// sockets, each; listenerTime bounds the wait for one answer, and datagramTime for one that
	// has no end.
	maxAsked, maxAskedMore = 8, 4
	listenerTime           = time.Second
	datagramTime           = 300 * time.Millisecond
	// streamTime bounds a stream over which answers to other requests come.
	streamTime = 3 * time.Second
	// maxHeard bounds what is kept of an answer, heardPart what of it one mark holds.
	maxHeard, heardPart = 64 << 10, 4 << 10
)

// openings are what is said to a port or socket on which the server listens, each over a connection of its
// own: a request of HTTP, and a line that a shell would run.
var openings = []string{
	"GET / HTTP/1.1\r\nHost: localhost\r\nUser-Agent: curl/8.5.0\r\nAccept: */*\r\nConnection: close\r\n\r\n",
	session.ListenerLine + "\n",
}

// askListeners speaks to the ports and unix sockets that the server opened and that no client was
// told of, as a call of their own: what the server does and answers then is what anybody gets who finds them.
func (s *Session) askListeners(ctx context.Context) {
	if s.driver != nil || s.plan.Drive.Kind != plan.DriveExplore && s.plan.Drive.Record == "" {
		return
	}
	bounded, cancel := context.WithTimeout(ctx, syncTimeout)
	tcp, err := s.sandbox.Ports(bounded)
	udp, udpErr := s.sandbox.UDPPorts(bounded)
	cancel()
	if err != nil || udpErr != nil {
		return // the server is gone, which others say
	}
	list, own := s.rec.listeners(tcp, udp)
	if len(list) == 0 && own == 0 {
		return
	}
	var found *doors
	s.listening(ctx, nil, func() {
		found = s.doorsOf(s.open(ctx, list), own, func(ctx context.Context, to mux.Addr, q request) (reply, bool) {
			return replyOf(s.exchange(ctx, to, q.text(to.Port), q.heard))
		})
		found.request(ctx)
	})
	found.attack(ctx)
}

// open says the openings to listeners, and returns the ports that speak HTTP.
func (s *Session) open(ctx context.Context, list []mux.Addr) (speaking []mux.Addr) {
	for _, to := range list {
		for i, opening := range openings {
			answer := s.exchange(ctx, to, opening, nil)
			s.heard = s.heard || len(answer) > 0
			if _, speaks := replyOf(answer); i == 0 && speaks && to.Net == "tcp" {
				speaking = append(speaking, to)
			}
		}
	}
	return speaking
}

// listening is a call to what the server listens on: what is asked in it, and all that the server did then.
func (s *Session) listening(ctx context.Context, in []session.Injection, ask func()) {
	s.beginListening(in)
	ask()
	s.sync(ctx)
	s.search(ctx, false)
	s.endListening()
}

// beginListening begins such a call, with the inputs that it will carry.
func (s *Session) beginListening(in []session.Injection) {
	s.lastCall++
	s.heard = false
	s.rec.mark(session.Mark{Kind: session.MarkCall, Call: s.lastCall, Tool: session.ListenerTool, What: session.WhatListener, Oracles: in})
}

// endListening ends it. It succeeded where anything was answered.
func (s *Session) endListening() {
	outcome := session.OutcomeError
	if s.heard {
		outcome = session.OutcomeOK
	}
	s.rec.mark(session.Mark{Kind: session.MarkReturn, Call: s.lastCall, Tool: session.ListenerTool, What: string(outcome)})
}

// exchange says something to a listener, records the answer and returns its beginning, nil for none. heard is told what
// came so far and says when that is enough; it may be nil.
func (s *Session) exchange(ctx context.Context, to mux.Addr, opening string, heard func(raw []byte) (done bool)) []byte {
	most := listenerTime
	switch {
	case to.Net == "udp":
		most = datagramTime
	case heard != nil:
		most = streamTime
	}
	bounded, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	conn, err := s.sandbox.DialAddr(bounded, to)
	if err != nil {
		return nil
	}
	defer func() { _ = conn.Close() }() // what came is recorded
	stop := context.AfterFunc(bounded, func() { _ = conn.Close() })
	defer stop()
	if _, err := io.WriteString(conn, opening); err != nil {
		return nil
	}
	answer, err := hear(io.LimitReader(conn, maxHeard), heard)
	if err != nil && len(answer) == 0 {
		return nil
	}
	for part := range slices.Chunk(answer, heardPart) {
		m := session.Mark{Kind: session.MarkAnswered, Call: s.lastCall, Tool: session.ListenerTool, What: nameOf(to), N: int64(to.Port)}
		if utf8.Valid(part) {
			m.Text = string(part)
		} else {
			m.Data = part
		}
		s.rec.mark(m)
	}
	first, _, _ := strings.Cut(opening, "\r")
	s.progress(fmt.Sprintf("said %q to %s", strings.TrimSpace(first), nameOf(to)))
	return answer
}

// hear reads to the end, or until heard has enough.
func hear(from io.Reader, heard func(raw []byte) (done bool)) (answer []byte, err error) {
	if heard == nil {
		return io.ReadAll(from)
	}
	part := make([]byte, heardPart)
	for {
		n, err := from.Read(part)
		answer = append(answer, part[:n]...)
		if err != nil || n > 0 && heard(answer) {
			return answer, err
		}
	}
}

// nameOf names a listener for people.
func nameOf(to mux.Addr) string {
	switch to.Net {
	case "unix":
		return fmt.Sprintf("the socket %q", to.Host)
	case "udp":
		return fmt.Sprintf("UDP port %d", to.Port)
	}
	return fmt.Sprintf("port %d", to.Port)
}
