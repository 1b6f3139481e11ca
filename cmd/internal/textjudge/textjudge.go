package textjudge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/text"
)

// The bounds of one program.
const (
	// Timeout bounds all answers together.
	Timeout = 2 * time.Minute
	// maxLine and maxOutput bound what is read of it, in bytes.
	maxLine   = 64 << 10
	maxOutput = 8 << 20
	// maxWhy bounds what is kept of a reason, in bytes.
	maxWhy = 400
	// grace is how long a program has to end when it was told all.
	grace = 2 * time.Second
)

// verdict is a line of the program's.
type verdict struct {
	ID      string `json:"id"`
	Verdict string `json:"verdict"`
	Why     string `json:"why"`
}

// Ask gives the program each text as a line of JSON, {"id","text","where","tool"}, and
// reads its verdicts, {"id","verdict","why"} with a verdict "order" or "fine", in any
// order. command is the program with its arguments. What did not go as it should is in
// the answer, as the reason for which texts were not judged; only an end of ctx is an error.
func Ask(ctx context.Context, command []string, texts []analyze.SaidText) (*analyze.Texts, error) {
	out := analyze.NewTexts(command)
	if len(texts) == 0 {
		return out, ctx.Err()
	}
	bounded, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	answers, err := converse(bounded, command, texts)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	switch {
	case bounded.Err() != nil:
		out.Failed = fmt.Sprintf("it did not answer within %s", Timeout)
	case err != nil:
		out.Failed = text.Printable(err.Error(), 300)
	}
	for _, t := range texts {
		v, ok := answers[t.ID]
		switch {
		case !ok:
			out.Missing++
		case v.Verdict == "order":
			out.Orders = append(out.Orders, analyze.OrderedText{SaidText: t.Clipped(), Why: text.Printable(v.Why, maxWhy)})
			fallthrough
		default:
			out.Judged++
		}
	}
	return out, nil
}

// converse runs the program. What it said before an error is returned beside that.
func converse(ctx context.Context, command []string, texts []analyze.SaidText) (map[string]verdict, error) {
	if len(command) == 0 {
		return nil, errors.New("no program is named")
	}
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	ownGroup(cmd)
	cmd.WaitDelay = grace
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("it does not start: %w", err)
	}
	written := make(chan error, 1)
	go func() { written <- tell(in, texts) }()
	answers, readErr := hear(stdout, texts)
	if readErr != nil {
		_ = cmd.Cancel() // what it says further is not read
	}
	writeErr := <-written
	waitErr := cmd.Wait()
	switch {
	case readErr != nil:
		return answers, readErr
	case waitErr != nil && len(answers) < len(texts):
		return answers, fmt.Errorf("it ended with: %w", waitErr)
	case writeErr != nil && len(answers) < len(texts):
		return answers, errors.New("it did not read all texts")
	}
	return answers, nil
}

// tell writes all texts and closes the program's input.
func tell(in io.WriteCloser, texts []analyze.SaidText) error {
	w := bufio.NewWriter(in)
	e := json.NewEncoder(w)
	var err error
	for i := 0; i < len(texts) && err == nil; i++ {
		t := &texts[i]
		err = e.Encode(struct {
			ID    string `json:"id"`
			Text  string `json:"text"`
			Where string `json:"where"`
			Tool  string `json:"tool"`
		}{t.ID, t.Text, t.Where, t.Tool})
	}
	return errors.Join(err, w.Flush(), in.Close())
}

// hear reads verdicts until the program's output ends. The first verdict on a text counts.
func hear(out io.Reader, texts []analyze.SaidText) (map[string]verdict, error) {
	asked := make(map[string]bool, len(texts))
	for _, t := range texts {
		asked[t.ID] = true
	}
	answers := map[string]verdict{}
	limited := &io.LimitedReader{R: out, N: maxOutput + 1}
	lines := bufio.NewScanner(limited)
	lines.Buffer(nil, maxLine)
	for lines.Scan() {
		line := bytes.TrimSpace(lines.Bytes())
		if len(line) == 0 {
			continue
		}
		var v verdict
		if err := json.Unmarshal(line, &v); err != nil {
			return answers, errors.New("it wrote a line that is not a verdict")
		}
		if !asked[v.ID] || v.Verdict != "order" && v.Verdict != "fine" {
			return answers, errors.New("it wrote a verdict that is neither order nor fine, or on a text that it was not given")
		}
		if _, twice := answers[v.ID]; !twice {
			answers[v.ID] = v
		}
	}
	switch {
	case lines.Err() != nil:
		return answers, fmt.Errorf("its output cannot be read: %w", lines.Err())
	case limited.N == 0:
		return answers, fmt.Errorf("it wrote more than %d bytes", maxOutput)
	}
	return answers, nil
}
