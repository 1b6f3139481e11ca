package cli

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/analyzetest"
)

// The recording's screen in characters, and its width and the height of a line in pixels.
const (
	screenColumns, screenRows = 108, 30
	screenWidth, lineHeight   = 880, 19
)

// keptScreen is what a kept run of the twin "leaky" prints today, as a terminal shows it.
func keptScreen(t *testing.T) []string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "coalmine-out", "leaky")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	analyzetest.UnpackRun(t, filepath.Join(moduleRoot, "testdata", "runs", "local-strace-findings-leaky.tar.gz"), dir)
	var out, errw bytes.Buffer
	if status := Main([]string{"judge", dir}, strings.NewReader(""), &out, &errw); status != ExitFindings {
		t.Fatalf("%d %s%s", status, out.String(), errw.String())
	}
	lines := []string{"$ coalmine probe -- leaky"}
	for line := range strings.Lines(strings.ReplaceAll(out.String(), dir, "coalmine-out/leaky")) {
		line = strings.TrimRight(line, "\n")
		if words := strings.TrimSpace(line); strings.HasPrefix(words, "fix: ") || strings.HasPrefix(words, "reproduce") || strings.HasPrefix(words, "call ") {
			continue // a page of the README has no room for them
		}
		if runes := []rune(line); len(runes) > screenColumns {
			line = string(runes[:screenColumns-1]) + "…"
		}
		lines = append(lines, line)
	}
	return lines[:min(len(lines), screenRows)]
}

// screen draws lines as a terminal, in which they appear one after another. Readers who ask for
// less motion see all of them at once.
func screen(lines []string) []byte {
	var b bytes.Buffer
	width, height := screenWidth, len(lines)*lineHeight+56
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" role="img" aria-label="coalmine probes a server that reads an SSH key and sends it">`+"\n", width, height, width, height)
	b.WriteString(`<style>
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #d8dee9; white-space: pre }
.critical { fill: #ff7b72; font-weight: bold } .high { fill: #ffa657; font-weight: bold } .medium { fill: #e3d26f } .low { fill: #8bd5ca } .dim { fill: #8b949e } .prompt { fill: #7ee787 }
g text { animation: appear .01s both }
@keyframes appear { from { opacity: 0 } to { opacity: 1 } }
@media (prefers-reduced-motion: reduce) { g text { animation: none } }
</style>
`)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" rx="8" fill="#161b22"/>`+"\n", width, height)
	for i, colour := range []string{"#ff5f57", "#febc2e", "#28c840"} {
		fmt.Fprintf(&b, `<circle cx="%d" cy="18" r="6" fill="%s"/>`, 20+20*i, colour)
	}
	b.WriteString("\n<g>\n")
	for i, line := range lines {
		at := 0.4 + 0.12*float64(i)
		if i > 0 {
			at += 1.2 // the probe itself takes longer
		}
		class := ""
		switch word, _, _ := strings.Cut(strings.TrimSpace(line), " "); {
		case i == 0:
			class = ` class="prompt"`
		case strings.HasPrefix(line, "  critical") || strings.HasPrefix(line, "  high") || strings.HasPrefix(line, "  medium") || strings.HasPrefix(line, "  low"):
			class = fmt.Sprintf(` class="%s"`, word)
		case strings.HasPrefix(line, "      "):
			class = ` class="dim"`
		}
		fmt.Fprintf(&b, `<text x="16" y="%d"%s style="animation-delay:%.2fs">`, 52+i*lineHeight, class, at)
		_ = xml.EscapeText(&b, []byte(line)) // a buffer takes everything
		b.WriteString("</text>\n")
	}
	b.WriteString("</g>\n</svg>\n")
	return b.Bytes()
}

// The recording in README.md is what this version prints of a real run (-update draws it).
func TestRecording(t *testing.T) {
	name, want := filepath.Join(moduleRoot, "docs", "recording.svg"), screen(keptScreen(t))
	if *update {
		if err := os.WriteFile(name, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("docs/recording.svg is not what coalmine prints today: make screenshots draws it")
	}
	words := 0
	for d := xml.NewDecoder(bytes.NewReader(got)); ; words++ {
		if _, err := d.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	if words < 60 || len(got) > 20<<10 || bytes.Contains(got, []byte("<script")) {
		t.Errorf("%d bytes with %d parts", len(got), words)
	}
}
