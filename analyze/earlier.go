package analyze

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/rules"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/analyze/wirelog"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// Earlier is what a server declared and did before, as a run is compared with it.
type Earlier struct {
	// From names the directory or the lock, as the user gave it.
	From string     `json:"from"`
	Lock *wire.Lock `json:"lock"`
	// Instructions and Tools are the texts behind the lock's hashes, where they are known.
	Instructions string            `json:"instructions,omitempty"`
	Tools        []json.RawMessage `json:"tools,omitempty"`
	// Behaviours are what rules.BehaviourOf names, nil where what it did is not known.
	Behaviours []string `json:"deeds,omitzero"`
	// Missing says why there is nothing to compare with, "" where there is.
	Missing string `json:"missing,omitempty"`
}

// EarlierLock is the Earlier of a lock's file.
func EarlierLock(name string, data []byte) (*Earlier, error) {
	l, err := wire.ParseLock(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Earlier{From: name, Lock: l}, nil
}

// maxEarlierReport bounds an earlier report.json, in bytes.
const maxEarlierReport = 256 << 20

// ReadEarlier reads what a target did in an earlier probe: from names its directory, or the
// one with the targets' directories, of which name is the target's. That there is no run of
// this target is no error, and stands in Missing.
func ReadEarlier(from, name string) (*Earlier, error) {
	e := &Earlier{From: from}
	root, err := os.OpenRoot(from)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if _, err := root.Lstat(session.FramesFile); err != nil {
		target, err := root.OpenRoot(name)
		if errors.Is(err, os.ErrNotExist) {
			e.Missing = "there is no run of " + name + " in " + from
			return e, nil
		}
		if err != nil {
			return nil, err
		}
		defer target.Close()
		root, e.From = target, path.Join(from, name)
	}
	if err := e.declared(root); err != nil {
		return nil, fmt.Errorf("%s: %w", e.From, err)
	}
	return e, e.done(root)
}

// declared reads the last whole declaration of the earlier session.
func (e *Earlier) declared(root *os.Root) error {
	f, err := root.Open(session.FramesFile)
	if err != nil {
		return err
	}
	defer f.Close()
	r := wirelog.NewReader(f)
	for {
		if _, err := r.Next(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
	}
	if r.State.First == nil {
		e.Missing = "the run in " + e.From + " has no complete tools/list"
		return nil
	}
	surface := wire.Surface{Server: r.State.Server, Instructions: r.State.Instructions, Tools: r.State.First.List}
	e.Lock, e.Instructions = lockOf(&surface), surface.Instructions
	for _, t := range surface.Tools {
		e.Tools = append(e.Tools, t.Raw)
	}
	return nil
}

// done reads what the earlier report observed. A log without a report tells nothing of it.
func (e *Earlier) done(root *os.Root) error {
	data, err := session.ReadFile(root, "report.json", maxEarlierReport)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", e.From, err)
	}
	var report struct {
		Run struct {
			Tracer string `json:"tracer"`
		} `json:"run"`
		Observed []finding.Effect `json:"observed"`
	}
	if err := json.Unmarshal(data, &report); err != nil {
		return fmt.Errorf("%s: read report.json: %w", e.From, err)
	}
	if report.Run.Tracer == "" || report.Run.Tracer == "none" {
		return nil
	}
	behaviours := map[string]bool{}
	for i := range report.Observed {
		if behaviour, ok := rules.BehaviourOf(&report.Observed[i]); ok {
			behaviours[behaviour] = true
		}
	}
	e.Behaviours = slices.AppendSeq([]string{}, maps.Keys(behaviours))
	slices.Sort(e.Behaviours)
	return nil
}

// lockOf is wire.LockOf of the first of the tools with one name: a second one has a rule of
// its own.
func lockOf(s *wire.Surface) *wire.Lock {
	one := *s
	seen := map[string]bool{}
	one.Tools = slices.DeleteFunc(slices.Clone(s.Tools), func(t wire.Tool) bool {
		again := seen[t.Name]
		seen[t.Name] = true
		return again
	})
	l, err := wire.LockOf(&one)
	if err != nil {
		return &wire.Lock{Schema: wire.LockSchema, Tools: map[string]wire.Pin{}} // no name is there twice
	}
	return l
}

// since compares a run with the earlier ones that the options name.
func (j *judge) since(w *wireReader, run *rules.Run, earlier []*Earlier) {
	for _, e := range earlier {
		switch {
		case e.Missing != "":
			j.because(session.GapNotCompared, "%s", j.say(e.Missing, 300))
			continue
		case w.first == nil:
			j.because(session.GapNotCompared, "the server's declarations are not known, so they were not compared with %s", j.say(e.From, 200))
			continue
		}
		run.Drifted = append(run.Drifted, e.drifted(w)...)
		if e.Behaviours == nil {
			continue
		}
		run.Before = &rules.Before{From: e.From, Behaviours: map[string]bool{}}
		for _, d := range e.Behaviours {
			run.Before.Behaviours[d] = true
		}
	}
}

// tools reads the earlier declarations. Those that cannot be read are known by their hashes alone.
func (e *Earlier) tools() []wire.Tool {
	result, err := json.Marshal(map[string]any{"tools": e.Tools})
	if err != nil {
		return nil
	}
	tools, _, err := wire.ParseTools(result)
	if err != nil {
		return nil
	}
	return tools
}

// drifted lists how the declarations of a run differ from the earlier ones.
func (e *Earlier) drifted(w *wireReader) []rules.Drifted {
	was := map[string]*wire.Tool{}
	for _, t := range e.tools() {
		if was[t.Name] == nil {
			was[t.Name] = &t
		}
	}
	var out []rules.Drifted
	for _, c := range lockOf(&w.surface).Since(e.Lock) {
		d := rules.Drifted{Fact: rules.Fact{Seq: w.first.Seq, Tool: c.Tool}, Kind: c.Kind, Members: c.Members, From: e.From}
		old, now := was[c.Tool], w.first.Tools[c.Tool]
		switch {
		case c.Tool == "":
			d.Seq = 0
			if e.Tools != nil {
				d.Text = both(e.Instructions, w.surface.Instructions)
			}
		case c.Kind == wire.Appeared:
			d.Difference = rules.DifferenceOf(nil, now)
		case c.Kind == wire.Redeclared && old != nil && now != nil:
			d.Difference = rules.DifferenceOf(old, now)
			if slices.Contains(c.Members, "description") {
				d.Text = both(old.Description, now.Description)
			}
		}
		out = append(out, d)
	}
	return out
}

// both quotes two versions of a text from where they differ.
func both(was, now string) string {
	from := 0
	for from < len(was) && from < len(now) && was[from] == now[from] {
		from++
	}
	for from > 0 && (from >= len(was) || was[from-1] != ' ') {
		from--
	}
	lead := ""
	if from > 0 {
		lead = "…"
	}
	return "was “" + lead + text.Printable(was[from:], 160) + "”, is “" + lead + text.Printable(now[from:], 160) + "”"
}
