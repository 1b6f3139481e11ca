package analyze

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/detect"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/analyze/wirelog"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// TextsFile holds what an outside judge said of the texts of a run.
const TextsFile = "texts.json"

// TextsSchema is the version of TextsFile.
const TextsSchema = "coalmine/texts/v1"

// SaidText is a text that a server said, as an outside judge is given it: without the
// values of decoys.
type SaidText struct {
	ID   string `json:"id"`
	Text string `json:"text"`
	// Where is the message and the place in it: "tools/list description".
	Where string `json:"where"`
	// Tool is the tool that was called, "" for none.
	Tool string `json:"tool,omitempty"`
	// Seq is the frame in which it stood first.
	Seq uint64 `json:"seq"`
}

// Clipped is the text as it is kept: its beginning.
func (s SaidText) Clipped() SaidText {
	s.Text = text.Printable(s.Text, 200)
	return s
}

// OrderedText is a text that an outside judge called an order.
type OrderedText struct {
	SaidText
	Why string `json:"why"`
}

// Texts is what an outside judge said of a run, kept beside it, so that the run can be
// judged again without that program.
type Texts struct {
	Schema string `json:"schema"`
	// Program is the program's name, without its arguments.
	Program string `json:"program"`
	// Judged counts the texts with a verdict, Missing those that it gave none on, and
	// Left those that were too many to be given to it.
	Judged  int `json:"judged"`
	Missing int `json:"missing,omitempty"`
	Left    int `json:"left,omitempty"`
	// Failed says what went wrong, "" for nothing.
	Failed string `json:"failed,omitempty"`
	// Orders are those that it called orders.
	Orders []OrderedText `json:"orders"`
}

// NewTexts is the answer of a program that has said nothing yet.
func NewTexts(command []string) *Texts {
	t := &Texts{Schema: TextsSchema, Orders: []OrderedText{}}
	if len(command) > 0 {
		t.Program = text.Printable(command[0], 200)
	}
	return t
}

// The bounds of what an outside judge is given: texts, and bytes of one and of all. A
// text of one word orders nobody.
const (
	maxTexts     = 5000
	maxTextBytes = 16 << 10
	maxAllBytes  = 8 << 20
	leastText    = 12
)

// ReadTexts lists the different texts that the server of the run in dir said, and counts
// those beyond the bounds.
func ReadTexts(dir *os.Root) (out []SaidText, left int, err error) {
	log, err := session.Open(dir)
	if err != nil {
		return nil, 0, fmt.Errorf("read the run's log: %w", err)
	}
	file, err := log.Wire()
	if err != nil {
		return nil, 0, err
	}
	defer file.Close()
	c := &textCollector{set: canaries.FromCanaries(log.Header.Canaries), seen: map[string]bool{}}
	if _, err := detect.Read(file, session.FramesFile, detect.Options{OwnClient: true}, c.event); err != nil {
		return nil, 0, err
	}
	return c.out, c.left, nil
}

// textCollector collects texts from the events of a wire.
type textCollector struct {
	set  *canaries.Set
	seen map[string]bool
	out  []SaidText
	left int
	size int
}

func (c *textCollector) event(e *wirelog.Event, _ *wire.State) {
	if !e.FromServer() {
		return
	}
	what, tool := e.Method, ""
	switch {
	case e.Kind == wire.Unparsed:
		c.add(e.Seq, "a line that is not a message", "", string(e.Raw))
		return
	case e.Asked != nil:
		tool = e.Asked.Tool
	case e.Kind == wire.Response:
		what = "an answer to no request"
	}
	for _, body := range [][]byte{e.Params, e.Result, e.Fault} {
		detect.EachSaid(body, func(place, s string) {
			c.add(e.Seq, strings.TrimSpace(what+" "+place), tool, s)
		})
	}
}

func (c *textCollector) add(seq uint64, where, tool, s string) {
	if len(s) < leastText || !strings.ContainsAny(s, " \t\n") && !strings.ContainsFunc(s, func(r rune) bool { return r >= 0x80 }) {
		return
	}
	s = c.set.Redact(s)
	if c.seen[s] {
		return
	}
	cut := s[:min(len(s), maxTextBytes)]
	if len(c.out) >= maxTexts || c.size+len(cut) > maxAllBytes {
		c.left++
		return
	}
	c.seen[s] = true
	c.size += len(cut)
	c.out = append(c.out, SaidText{ID: strconv.Itoa(len(c.out) + 1), Text: strings.ToValidUTF8(cut, "\uFFFD"), Where: text.Printable(c.set.Redact(where), 120), Tool: text.Printable(c.set.Redact(tool), 120), Seq: seq})
}

// WriteTexts keeps what an outside judge said.
func WriteTexts(out session.Output, t *Texts) error { return writeJSON(out, TextsFile, t) }

// readTexts reads what WriteTexts wrote, nil for nothing.
func readTexts(dir *os.Root) (*Texts, error) {
	t := &Texts{}
	there, err := readJSON(dir, TextsFile, t)
	switch {
	case err != nil || !there:
		return nil, err
	case t.Schema != TextsSchema:
		return nil, fmt.Errorf("read %s: its schema is %.40q; this version reads %q", TextsFile, t.Schema, TextsSchema)
	case len(t.Orders) > maxTexts:
		return nil, errors.New("read " + TextsFile + ": there are more verdicts than texts")
	}
	return t, nil
}

// judgedTexts are the texts that an outside judge called orders, with the calls in
// which they were said.
func (t *Texts) judgedTexts(w *wireReader) []rules.JudgedText {
	var out []rules.JudgedText
	for _, o := range t.Orders {
		fact := w.fact(o.Seq, o.Text)
		fact.Tool = o.Tool
		out = append(out, rules.JudgedText{Fact: fact, Where: o.Where, Why: o.Why})
	}
	return out
}

// textGaps are the reasons for which an outside judge left something unsaid.
func (j *judge) textGaps(t *Texts) {
	if t.Failed != "" || t.Missing > 0 {
		j.because(session.GapTextJudge, "the text judge gave no verdict on %d of %d texts: %s", t.Missing, t.Missing+t.Judged, orElse(t.Failed, "it ended before"))
	}
	if t.Left > 0 {
		j.because(session.GapTextJudge, "the text judge did not get %d texts: there were too many", t.Left)
	}
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
