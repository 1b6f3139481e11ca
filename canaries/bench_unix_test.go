//go:build unix

package canaries

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/sandboxtest/cputime"
)

// keptWire is what crossed the wire in the kept runs.
func keptWire(b *testing.B) []byte {
	archives, err := filepath.Glob("../testdata/runs/*.tar.gz")
	if err != nil || len(archives) == 0 {
		b.Fatal("no kept runs", err)
	}
	var out []byte
	for _, name := range archives {
		packed, err := os.ReadFile(name)
		if err != nil {
			b.Fatal(err)
		}
		r, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			b.Fatal(err)
		}
		for files := tar.NewReader(r); ; {
			h, err := files.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			if path.Base(h.Name) == "session.jsonl" {
				text, err := io.ReadAll(files)
				if err != nil {
					b.Fatal(err)
				}
				out = append(out, text...)
			}
		}
	}
	return out
}

// shortRuns are lines like those of a lock file: each has a digest of its own.
func shortRuns(raw []byte) []byte {
	var out []byte
	for ; len(raw) >= 64 && len(out) < 1<<20; raw = raw[64:] {
		out = fmt.Appendf(out, "      \"integrity\": \"sha512-%s\",\n      \"resolved\": \"https://registry.npmjs.org/accepts/-/accepts-1.3.8.tgz\",\n", base64.StdEncoding.EncodeToString(raw[:64]))
	}
	return out
}

// BenchmarkScanner reads what servers send: noise, JSON text, base 64, what crossed
// the wire, and text made to be slow. BenchmarkLinear does it without the layers.
func BenchmarkScanner(b *testing.B) {
	benchmarkTexts(b, func(sc *Scanner, p []byte) { _, _ = sc.Write(p) })
}

func BenchmarkLinear(b *testing.B) { benchmarkTexts(b, (*Scanner).linear) }

func benchmarkTexts(b *testing.B, write func(sc *Scanner, p []byte)) {
	s := shared()
	m := s.matcher()
	b.Logf("%d canaries, %d patterns of %d to %d bytes", len(s.Canaries()), len(m.patterns), m.min, m.max)
	raw := noise(3<<20, 1)
	slow := m.patterns[0].text[m.min-block : m.min]
	texts := []struct {
		name string
		data []byte
	}{
		{"random", raw},
		{"json", bytes.Repeat([]byte(`{"jsonrpc":"2.0","id":17,"result":{"content":[{"type":"text","text":"A formatted note\n\n- one\n- two"}]}}`+"\n"), 30000)},
		{"base64", []byte(base64.StdEncoding.EncodeToString(raw))},
		{"hex", []byte(hex.EncodeToString(raw))},
		{"source", bytes.Repeat([]byte("// Write looks at the next bytes of the stream.\nfunc (sc *Scanner) Write(p []byte) (int, error) {\n\tsc.buf = append(sc.buf, p[:n]...)\r\n\treturn len(p), nil\n}\n"), 20000)},
		{"percent", []byte(spelled(string(raw[:1<<20]), "%%%02x"))},
		{"html", []byte(spelled(string(raw[:1<<20]), "&#%d;"))},
		{"unicode escapes", []byte(spelled(string(raw[:1<<20]), `\u%04x`))},
		{"quoted-printable", []byte(spelled(string(raw[:1<<20]), "=%02X"))},
		{"mime", []byte(strings.Join(cut(base64.StdEncoding.EncodeToString(raw), 76), "\r\n"))},
		{"mime in JSON", []byte(strings.Join(cut(base64.StdEncoding.EncodeToString(raw), 76), `\r\n`))},
		{"hex dump", []byte(strings.Join(cut(hex.EncodeToString(raw), 2), " "))},
		{"chunks", chunked(raw, 40)},
		{"names", []byte(strings.Join(cut(hex.EncodeToString(raw), 40), ".") + ".")},
		{"HTML page", bytes.Repeat([]byte("<p class=\"note\">Terms &amp; conditions &mdash; see <a href=\"/a?b=1&amp;c=2\">here</a>.</p>\r\n"), 30000)},
		{"form", bytes.Repeat([]byte("name=J%C3%BCrgen+Meyer&q=a%20%2B%20b&url=https%3A%2F%2Fwww.example.org%2Fdocs%2F&"), 40000)},
		{"figures", bytes.Repeat([]byte("10293847566574839201"), 50000)},
		{"bits", bytes.Repeat([]byte("0110100010111010"), 60000)},
		{"wire log", keptWire(b)},
		{"lock file", shortRuns(raw)},
		{"adversarial", []byte(strings.Repeat(slow, 1<<18))},
		{"all canaries", []byte(strings.Repeat(byID(b, s, "env-openai").Value+byID(b, s, "ssh-key").Value, 600))},
	}
	for _, text := range texts {
		b.Run(text.name, func(b *testing.B) {
			b.SetBytes(int64(len(text.data)))
			from := cputime.Used(b)
			for b.Loop() {
				sc := s.Scanner()
				for rest := text.data; len(rest) > 0; {
					n := min(len(rest), 64<<10)
					write(sc, rest[:n])
					rest = rest[n:]
				}
				_ = sc.Hits()
			}
			// A machine with other work to do makes the time on the wall say little.
			b.ReportMetric(float64(len(text.data))*float64(b.N)/1e6/(cputime.Used(b)-from).Seconds(), "MB/cpu-s")
		})
	}
}
