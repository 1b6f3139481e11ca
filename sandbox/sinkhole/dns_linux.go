package sinkhole

import (
	"encoding/binary"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// answer answers a DNS message that came by a flow and reports its questions.
func (s *server) answer(f *flow, query []byte, app string, limit int) []byte {
	return s.names.respond(query, limit, func(q dns.Question, found, own bool) {
		e := Event{Type: TypeQuery, App: app, Host: strings.TrimSuffix(q.Name, "."), Method: dns.TypeToString[q.Qtype], NoName: !found}
		if _, shared := s.names.lead(e.Host); found && own && !shared && (q.Qtype == dns.TypeA || q.Qtype == dns.TypeAAAA) {
			e.Answer, _ = s.names.address(e.Host, q.Qtype == dns.TypeAAAA)
		}
		f.report(e)
		if !own {
			s.loss("no address was left for a name", f.id)
		}
	})
}

// serveDNS answers messages with a length before each, as TCP has them.
func (s *server) serveDNS(t *tap, app string) {
	defer func() { _ = t.Close() }()
	t.w.f.learn(func(e *Event) { e.App = app })
	var size [2]byte
	for {
		_ = t.SetReadDeadline(time.Now().Add(s.cfg.Idle))
		if _, err := io.ReadFull(t, size[:]); err != nil {
			return
		}
		query := make([]byte, binary.BigEndian.Uint16(size[:]))
		if n, err := io.ReadFull(t, query); err != nil {
			t.w.f.fail("a DNS message of " + strconv.Itoa(len(query)) + " bytes ended after " + strconv.Itoa(n))
			return
		}
		out := s.answer(t.w.f, query, app, dns.MaxMsgSize)
		if out == nil {
			t.w.f.fail(trace.MalformedDNS)
			return
		}
		if _, err := t.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(out))), out...)); err != nil {
			return
		}
	}
}
