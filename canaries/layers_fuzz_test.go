package canaries

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

// FuzzLayers writes any bytes in any two layers: the finds do not depend on how the
// stream was cut, and none is left after redaction.
func FuzzLayers(f *testing.F) {
	s := FromCanaries([]Canary{byID(f, shared(), "aws-secret"), byID(f, shared(), "env-github")})
	names := slices.Sorted(maps.Keys(layered))
	for i := range names {
		for _, c := range s.Canaries() {
			f.Add([]byte(c.Value), byte(i), byte(7*i), uint16(i))
		}
	}
	f.Fuzz(func(t *testing.T, b []byte, outer, inner byte, step uint16) {
		text := layered[names[int(outer)%len(names)]](layered[names[int(inner)%len(names)]](b[:min(len(b), 2<<10)]))
		want := s.Find(text)
		sc := s.Scanner()
		for rest := text; len(rest) > 0; {
			n := min(len(rest), int(step)+1)
			_, _ = sc.Write(rest[:n])
			rest = rest[n:]
		}
		if got := sc.Hits(); !slices.Equal(got, want) {
			t.Fatalf("split: %v\nwhole: %v", got, want)
		}
		if hits := s.Find([]byte(s.Redact(string(text)))); hits != nil && len(want) > 0 {
			t.Fatalf("after redaction: %v", hits)
		}
	})
}

// FuzzDigits decodes what was encoded in each base.
func FuzzDigits(f *testing.F) {
	f.Add([]byte("\x00\x00any text"))
	f.Add([]byte{0xff, 0xfe, 0x80})
	f.Fuzz(func(t *testing.T, b []byte) {
		b = b[:min(len(b), 2<<10)]
		same := func(name string, got []byte) {
			if !bytes.Equal(got, b) {
				t.Fatalf("%s: %q, want %q", name, got, b)
			}
		}
		same("base64", decodeBits(nil, []byte(base64.RawStdEncoding.EncodeToString(b)), base64Alphabet, 6))
		same("base64url", decodeBits(nil, []byte(base64.RawURLEncoding.EncodeToString(b)), base64Alphabet, 6))
		same("hex", decodeBits(nil, []byte(hex.EncodeToString(b)), hexAlphabet, 4))
		same("base32", decodeBits(nil, []byte(strings.TrimRight(base32.StdEncoding.EncodeToString(b), "=")), base32Alphabets[0], 5))
		same("base58", base58(write58(b)))
		for i, digits := range []string{ascii85Digits, z85Digits, base85Digits} {
			same(base85Alphabets[i].name, decode85(nil, write85(b, digits), base85Alphabets[i]))
		}
		same("btoa", decode85(nil, bytes.TrimSuffix(layered["btoa"](b)[2:], []byte("~>")), base85Alphabets[0]))
		// What is no encoding is read as one all the same, in bounds.
		_ = decode85(nil, b, base85Alphabets[1])
		_ = decodeBits(nil, b, base32Alphabets[2], 5)
	})
}

// FuzzCodes reads the numbers of characters.
func FuzzCodes(f *testing.F) {
	f.Add([]byte("any text at all"))
	f.Add([]byte("0x41, 65;066 U+0041"))
	f.Fuzz(func(t *testing.T, b []byte) {
		b = b[:min(len(b), 2<<10)]
		for i := range b {
			if v, ok := code([]byte(spelled(string(b[i:i+1]), "0x%02x")), 16); !ok || v != b[i] {
				t.Fatalf("%d in base 16 is %d, %v", b[i], v, ok)
			}
			if v, ok := code([]byte(spelled(string(b[i:i+1]), "%d")), 10); !ok || v != b[i] {
				t.Fatalf("%d in base 10 is %d, %v", b[i], v, ok)
			}
			if from, to, period := periodAt(b, i); period > 0 && (from < 0 || to > len(b) || from >= to) {
				t.Fatalf("a stretch from %d to %d of %d bytes", from, to, len(b))
			}
			if groups, to, _ := groupsAt(b, i); groups > 0 && (to <= i || to > len(b)) {
				t.Fatalf("%d groups from %d to %d of %d bytes", groups, i, to, len(b))
			}
		}
		if got := triples([]byte(spelled(string(b), "%03d"))); !bytes.Equal(got, b) {
			t.Fatalf("triples: %q, want %q", got, b)
		}
	})
}

// FuzzHidden reads what no reader sees.
func FuzzHidden(f *testing.F) {
	f.Add([]byte("any text"), "a \n b\t\n")
	f.Add([]byte("\xc3\xa9\x00a\x00b"), `"\u0041\\"`)
	f.Fuzz(func(t *testing.T, b []byte, text string) {
		b = b[:min(len(b), 2<<10)]
		if got, ok := latin1(latin(b)); ok && !bytes.Equal(got, b) {
			t.Fatalf("latin1: %q, want %q", got, b)
		}
		quoted, err := json.Marshal(text)
		if err == nil && utf8.ValidString(text) && !bytes.Contains(quoted, []byte(`\ud`)) && !strings.ContainsFunc(text, func(r rune) bool { return r >= 0x80 && r <= 0xff }) {
			if got := unquote(quoted[1 : len(quoted)-1]); string(got) != text {
				t.Fatalf("unquote: %q, want %q", got, text)
			}
		}
		for i := range b {
			if text, size := wideAt(b[i:]); size > len(b)-i || len(text) > size {
				t.Fatalf("%d characters in %d of %d bytes", len(text), size, len(b)-i)
			}
			if end := stringEnd(b, i); end < i || end > len(b) {
				t.Fatalf("a string from %d to %d of %d", i, end, len(b))
			}
		}
		for i := range escapes {
			text, places, codes := escapes[i].undo(b)
			if len(text) > len(b) || codes > len(places) || !slices.IsSorted(places) {
				t.Fatalf("%s of %q: %q, %v, %d", escapes[i].name, b, text, places, codes)
			}
		}
	})
}

// FuzzUnpack takes any bytes for packed streams, and never misses one of package flate.
func FuzzUnpack(f *testing.F) {
	f.Add([]byte("any text at all, any text at all"))
	f.Add(gzipped([]byte("text")))
	f.Fuzz(func(t *testing.T, b []byte) {
		d := &dive{m: shared().matcher(), left: 1 << 20, spare: 1 << 20}
		d.unpack(b, true)
		const stored = 0
		if packed := deflated(b); len(packed) >= leastPacked && packed[0]>>1&3 != stored && !mayDeflate(packed) {
			t.Fatalf("%x is not taken for a stream", packed)
		}
	})
}

// FuzzKeyed looks for a text under each kind of key.
func FuzzKeyed(f *testing.F) {
	f.Add([]byte("before "), byte(0x5a))
	f.Add([]byte{}, byte(1))
	c := byID(f, shared(), "env-github")
	m := FromCanaries([]Canary{c}).matcher()
	f.Fuzz(func(t *testing.T, before []byte, key byte) {
		for how, b := range [][]byte{byXor: xored(append(bytes.Clone(before), c.Value...), key), byRotation: rotate(append(bytes.Clone(before), c.Value...), int(key)%26)} {
			want := int(key)
			if how == byRotation {
				want %= 26
			}
			if want == 0 || b == nil {
				continue
			}
			there := false
			m.keyed[how].find(b, nil, func(p *pattern, start, got int) {
				there = there || got == want && strings.Contains(c.Value, m.keyed[how].plain[p.text]) && start >= len(before)
			})
			if !there {
				t.Fatalf("%q under %d is not found", b, want)
			}
		}
	})
}

// What a hostile server sends costs no more than the bounds allow: for each text the
// bytes that are decoded, and so the time, are a multiple of its length.
func TestLayersAreBounded(t *testing.T) {
	s := shared()
	nested := []byte("text ")
	for len(nested) < 48<<10 {
		nested = layered["base64"](append(nested, nested...))
	}
	for name, b := range map[string][]byte{
		"nested":  nested,
		"bomb":    layered["base64"](gzipped(gzipped(make([]byte, 16<<20)))),
		"zeros":   bytes.Repeat([]byte("0"), partSize),
		"quotes":  bytes.Repeat([]byte(`\"`), partSize/2),
		"slashes": bytes.Repeat([]byte(`\\n`), partSize/3),
		"spaces":  bytes.Repeat([]byte("a "), partSize/2),
		"gzip":    layered["base64"](bytes.Repeat(gzipped(make([]byte, 1<<20)), 20)),
		"wide":    bytes.Repeat([]byte("a\x00"), partSize/2),
		"bits":    bytes.Repeat([]byte("01"), partSize/2),
		"escapes": bytes.Repeat([]byte("%2525"), partSize/5),
	} {
		d := &dive{m: s.matcher()}
		b = b[:min(len(b), partSize)]
		from := time.Now()
		if finds := d.part(b, 0); len(finds) > 0 {
			t.Errorf("%s: %v", name, finds)
		}
		if d.spare < 0 {
			t.Errorf("%s: %d bytes more than allowed were decoded", name, -d.spare)
		}
		t.Logf("%s: %d of %d bytes decoded in %v", name, decodedInPart*len(b)+decodedAtLeast-d.spare, len(b), time.Since(from))
	}
}

// However long a stream is, a scanner keeps no more of it than Write says, of what it decodes too.
func TestLongStreamsAreNotKept(t *testing.T) {
	const most = 1 << 20
	s := shared()
	for name, unit := range map[string]string{"figures": "1029384756", "bits": "01", "base64": "QUJD", "codes": "65,66,67,", "escapes": "%41", "quotes": `\"`} {
		sc := s.Scanner()
		text := bytes.Repeat([]byte(unit), 16<<10)
		size := 1 << 20
		if name == "figures" {
			size = 10 << 20
		}
		for n := 0; n < size; n += len(text) {
			_, _ = sc.Write(text)
		}
		kept := cap(sc.buf) + cap(sc.part) + cap(sc.dive.between) + sc.dive.packed.buf.Cap() + longestBarren*len(sc.dive.barren)
		for _, room := range sc.dive.rooms {
			kept += cap(room)
		}
		for i := range sc.views {
			kept += cap(sc.views[i].out)
		}
		if hits := sc.Hits(); hits != nil || kept > most {
			t.Errorf("%s: %d bytes are kept, and %v found", name, kept, hits)
		}
	}
}
