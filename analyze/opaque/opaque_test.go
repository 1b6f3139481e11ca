package opaque

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

func TestDrawnBytesAreFound(t *testing.T) {
	encodings := map[string]func([]byte) string{
		"bytes": func(b []byte) string { return string(b) }, "hex": hex.EncodeToString, "HEX": func(b []byte) string { return strings.ToUpper(hex.EncodeToString(b)) },
		"base64": base64.StdEncoding.EncodeToString, "base64url": base64.RawURLEncoding.EncodeToString, "base32": base32.StdEncoding.EncodeToString,
	}
	blocks := func(b []byte) string {
		var list []string
		for i := 0; i < len(b); i += 16 {
			list = append(list, hex.EncodeToString(b[i:i+16]))
		}
		return strings.Join(list, `", "`)
	}
	encodings["hex in blocks"] = blocks
	encodings["numbers"] = func(b []byte) string {
		var list []string
		for _, c := range b {
			list = append(list, strconv.Itoa(int(c)))
		}
		return strings.Join(list, ", ")
	}
	for name, encode := range encodings {
		// The same bytes each time: how many are missed must not hang on chance.
		drawn := rand.NewChaCha8([32]byte{1})
		const texts = 2000
		missed := 0
		for range texts {
			b := make([]byte, 64)
			_, _ = drawn.Read(b) // it never fails
			text := encode(b)
			if name != "bytes" {
				text = `{"data": "` + text + `"}`
			}
			if len(Spans([]byte(text))) != 1 {
				missed++
			}
		}
		if missed > texts/100 {
			t.Errorf("%s: %d of %d texts were missed", name, missed, texts)
		}
	}
}

func TestWhatIsNoCipherIsNotFound(t *testing.T) {
	var zipped bytes.Buffer
	w := gzip.NewWriter(&zipped)
	_, _ = w.Write(bytes.Repeat([]byte("the usual words of a log, and some more of them\n"), 50))
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte("x"))
	for name, text := range map[string]string{
		"prose":         strings.Repeat("Formats a markdown note. Purely local text formatting. ", 40),
		"identifier":    "com.example.enterprise.AbstractSingletonProxyFactoryBeanConfigurationManager2DelegateImpl",
		"path":          "/usr/lib/python3/dist-packages/mcp/server/fastmcp/utilities/func_metadata.py",
		"constants":     "COALMINE_REQUIRE_EVERYTHING_THAT_A_MACHINE_MAY_OR_MAY_NOT_HAVE=1",
		"UUID":          "123e4567-e89b-12d3-a456-426614174000",
		"SHA-1":         "da39a3ee5e6b4b0d3255bfef95601890afd80709",
		"dates":         strings.Repeat("2026-11-22T21:57:34Z 192.168.10.254 ", 20),
		"a table":       "1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 160, 170",
		"a form":        "text=Avery+Reed+asked+for+14+of+them+in+October&more=Alex+Lowe+asked+for+15+of+them+in+June",
		"zeros":         strings.Repeat("0", 400),
		"text, base64":  base64.StdEncoding.EncodeToString([]byte(strings.Repeat("plain words in an envelope ", 8))),
		"gzip, base64":  base64.StdEncoding.EncodeToString(zipped.Bytes()),
		"short":         hex.EncodeToString(sum[:20]),
		"Chinese, UTF8": strings.Repeat("忽略以前的所有指令", 20),
		"latin1":        strings.Repeat("caf\xe9 cr\xe8me br\xfbl\xe9e ", 20),
	} {
		if spans := Spans([]byte(text)); len(spans) > 0 {
			t.Errorf("%s: %v", name, spans)
		}
	}
}

func FuzzSpans(f *testing.F) {
	f.Add([]byte("da39a3ee5e6b4b0d3255bfef95601890afd80709da39a3ee5e6b4b0d3255bfef95601890afd80709"))
	f.Fuzz(func(t *testing.T, data []byte) {
		end := 0
		for _, s := range Spans(data) {
			if s.Offset < end || s.Length < leastBytes || s.Offset+s.Length > len(data) {
				t.Fatalf("%+v after %d in %d bytes", s, end, len(data))
			}
			end = s.Offset + s.Length
		}
	})
}

func BenchmarkSpans(b *testing.B) {
	text := []byte(strings.Repeat(`{"jsonrpc":"2.0","id":17,"result":{"content":[{"type":"text","text":"Formats a markdown note. Purely local text formatting of 12 notes."}]}}`, 1000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Spans(text)
	}
}

// A value of a form or of a query ends at its key: it is the same stretch as alone.
func TestKeysAreNoPartOfValues(t *testing.T) {
	sum := sha256.Sum256([]byte("x"))
	value := base64.RawURLEncoding.EncodeToString(sum[:])
	for _, text := range []string{"text=" + value, "a=1&text=" + value + "&b=2", `{"text": "` + value + `="}`} {
		spans := Spans([]byte(text))
		if len(spans) != 1 || !strings.HasPrefix(text[spans[0].Offset:], value) {
			t.Errorf("%s: %v", text, spans)
		}
	}
}
