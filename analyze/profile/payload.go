package profile

import (
	"bytes"
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/opaque"
	"github.com/coalmine-dev/coalmine/analyze/text"
)

// maxPayloads bounds how many payloads a profile holds.
const maxPayloads = 4096

// Payload is something that the server sent or returned, looks random, and stands in none
// of the inputs before it.
type Payload struct {
	Phase finding.Phase
	Call  int // 0 outside of calls
	Tool  string
	// To is the peer that it was sent to ("host:port"), "" where it was returned.
	To string
	// Length is in bytes as it stands there; Sum tells equal payloads.
	Length int
	Sum    uint64
	// Format says that it begins as a format does that many programs read, such as an image or an archive.
	Format bool
}

// Input takes a frame of the client's: what it holds explains what comes back of it.
func (b *Builder) Input(raw []byte) {
	b.hears(raw)
	for _, w := range longWords(raw) {
		if len(b.given) < maxGivenWords {
			b.given[opaque.Sum(raw[w.from:w.to])] = true
		}
	}
}

const (
	// leastGiven is how long a word is that explains a part of what comes back: shorter ones
	// stand in a cipher by chance.
	leastGiven = 6
	// maxGivenWords bounds how many words of inputs a profile remembers.
	maxGivenWords = 1 << 18
)

// stretch is a part of a text, by its bytes.
type stretch struct{ from, to int }

// longWords are the words of letters and digits in a text. What JSON and URLs escape parts them.
func longWords(b []byte) (out []stretch) {
	from := 0
	end := func(i, next int) {
		if i-from >= leastGiven {
			out = append(out, stretch{from, i})
		}
		from = next
	}
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case text.EscapeAt(b, i):
			end(i, i+3)
			i += 2
		case c == '\\' && i+1 < len(b):
			end(i, i+2)
			i++
		case (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z'):
			end(i, i+1)
		}
	}
	end(len(b), 0)
	return out
}

// isGiven reports whether a stretch no longer looks random without the words that inputs held.
func (b *Builder) isGiven(span []byte) bool {
	rest := slices.Clone(span)
	found := false
	for _, w := range longWords(span) {
		if b.given[opaque.Sum(span[w.from:w.to])] {
			copy(rest[w.from:w.to], bytes.Repeat([]byte{' '}, w.to-w.from))
			found = true
		}
	}
	return found && len(opaque.Spans(rest)) == 0
}

// sealed notes what of a text looks random, and reports whether something does. A text in which decoys were found is
// read: its rest may be theirs too.
func (b *Builder) sealed(data []byte, p Payload) (found bool) {
	if bytes.IndexByte(data, '%') >= 0 {
		data = text.Unescaped(data)
	}
	spans := opaque.Spans(data)
	if len(spans) == 0 || len(b.find.Find(data)) > 0 {
		return false
	}
	for _, s := range spans {
		p.Length, p.Sum, p.Format = s.Length, s.Sum, hasFormat(data[s.Offset:s.Offset+s.Length])
		if len(b.out.Payloads) < maxPayloads && !slices.Contains(b.out.Payloads, p) && !b.isGiven(data[s.Offset:s.Offset+s.Length]) {
			b.out.Payloads = append(b.out.Payloads, p)
			found = true
		}
	}
	return found
}

// headBytes are enough to recognise a format by.
const headBytes = 512

// hasFormat reports whether data, or what it is in base 64, begins as a known format does.
func hasFormat(data []byte) bool {
	head := data[:min(len(data), headBytes)]
	digits := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(string(head)), "=")
	plain, err := base64.RawStdEncoding.DecodeString(digits[:len(digits)/4*4])
	return known(head) || err == nil && known(plain)
}

func known(head []byte) bool {
	zlib := len(head) > 1 && head[0] == 0x78 && (int(head[0])<<8|int(head[1]))%31 == 0
	kind := http.DetectContentType(head)
	return zlib || kind != "application/octet-stream" && !strings.HasPrefix(kind, "text/plain")
}

// sealedIn notes what looks random of a message that was sent at a moment.
func (b *Builder) sealedIn(f *flow, m *message, at time.Duration) {
	if f.known.Opaque {
		return // it is told as a whole
	}
	s := b.intervalAt(at)
	p := Payload{Phase: s.phase, Call: s.call, Tool: b.toolOf(s.call), To: b.peer(f)}
	look := func(data []byte) {
		if b.sealed(data, p) {
			b.unsealLater(f, data, at)
		}
	}
	look([]byte(m.line))
	for _, name := range slices.Sorted(maps.Keys(m.header)) {
		for _, v := range m.header[name] {
			look([]byte(v))
		}
	}
	look(m.body)
}
