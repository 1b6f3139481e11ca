package report

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/coalmine-dev/coalmine/analyze"
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// callView is the timeline of one call: a picture, and the same as a table.
type callView struct {
	Call                int
	Tool, What, Outcome string
	Took                string
	Height              int
	AxisY               int
	Lanes               []laneView
	Ticks               []tickView
	Rows                []momentView
	Ordinary            []momentView
	More                int
	Label               string
	// Open says that a finding names the call.
	Open bool
}

// laneView is one line of the picture; its places are in pixels and per cent.
type laneView struct {
	Name  string
	Label int
	Y     int
	Marks []markView
}

type markView struct {
	X, W  string
	Shape string
	Class string
	Title string
}

type tickView struct{ X, Anchor, Text string }

type momentView struct{ When, Lane, Where, Text string }

// The picture's measures, in pixels.
const (
	lanePitch = 34
	laneLabel = 11
	laneLine  = 23
)

var laneNames = map[analyze.Lane]string{
	analyze.LaneSent: "sent", analyze.LaneReceived: "received", analyze.LaneFiles: "files", analyze.LanePrograms: "programs",
	analyze.LaneSecrets: "decoy secrets", analyze.LaneNetwork: "network", analyze.LaneFlows: "flows", analyze.LaneOther: "other",
}

func (v *pageView) calls(res *analyze.Result) {
	named := map[int]bool{}
	for _, f := range res.Findings {
		named[f.Call] = true
	}
	for i := range res.Timelines {
		c := draw(&res.Timelines[i])
		c.Open = named[c.Call] || len(res.Timelines) == 1
		v.Calls = append(v.Calls, c)
	}
}

func draw(t *analyze.Timeline) callView {
	c := callView{Call: t.Call, Tool: Escape(t.Tool, 120), What: Escape(t.What, 20), Outcome: outcome(t.Outcome), Took: duration(t.End - t.Start), More: t.More}
	x := func(at time.Duration) string { return percent(at-t.Start, t.End-t.Start) }
	for _, lane := range analyze.Lanes {
		l := laneView{Name: laneNames[lane], Label: c.Height + laneLabel, Y: c.Height + laneLine}
		for _, m := range t.Moments {
			if m.Lane != lane {
				continue
			}
			mv := markView{X: x(m.Time), Shape: shape(&m), Class: class(&m), Title: "+" + duration(m.Time-t.Start) + " " + Escape(m.Text, 160)}
			if m.End > m.Time {
				mv.W = percent(m.End-m.Time, t.End-t.Start)
			}
			l.Marks = append(l.Marks, mv)
		}
		if len(l.Marks) > 0 {
			c.Lanes = append(c.Lanes, l)
			c.Height += lanePitch
		}
	}
	// What proves something lies on top of what is ordinary.
	for _, l := range c.Lanes {
		slices.SortStableFunc(l.Marks, func(a, b markView) int { return rank(a.Shape) - rank(b.Shape) })
	}
	c.AxisY = c.Height + 4
	c.Height += 24
	c.Ticks = ticks(t.End - t.Start)
	for _, m := range t.Moments {
		row := momentView{"+" + duration(m.Time-t.Start), laneNames[m.Lane], place(&m), Escape(m.Text, 240)}
		if m.Noise != "" {
			c.Ordinary = append(c.Ordinary, row)
		} else {
			c.Rows = append(c.Rows, row)
		}
	}
	c.Label = fmt.Sprintf("Call %d of %s: %s in %s", t.Call, c.Tool, plural(len(t.Moments), "event"), c.Took)
	return c
}

func rank(shape string) int {
	if shape == "tick" {
		return 0
	}
	return 1
}

func place(m *analyze.Moment) string {
	return locationOf(&finding.Evidence{Source: m.Source, Seq: m.Seq})
}

func outcome(o session.Outcome) string {
	switch o {
	case session.OutcomeOK:
		return "answered"
	case session.OutcomeIsError, session.OutcomeError:
		return "returned an error"
	case session.OutcomeTimeout:
		return "timed out"
	case session.OutcomeCrash:
		return "made the server exit"
	default:
		return "unfinished"
	}
}

// shape says how a moment is drawn.
func shape(m *analyze.Moment) string {
	switch {
	case m.End > m.Time:
		return "span"
	case m.Noise != "":
		return "tick"
	case m.Lane == analyze.LaneSent:
		return "right"
	case m.Lane == analyze.LaneReceived:
		return "left"
	case m.Lane == analyze.LaneSecrets:
		return "diamond"
	case m.Lane == analyze.LaneNetwork, m.Lane == analyze.LaneFlows:
		return "square"
	default:
		return "dot"
	}
}

// class colours a moment by its lane; what failed is hollow.
func class(m *analyze.Moment) string {
	c := "m-" + string(m.Lane)
	if m.Noise != "" {
		c = "m-noise"
	}
	if m.Rung == finding.RungAttempted {
		c += " hollow"
	}
	return c
}

// percent is a part of a whole for a picture, between 0 and 100.
func percent(part, whole time.Duration) string {
	if whole <= 0 {
		return "0"
	}
	p := 100 * float64(part) / float64(whole)
	return fmt.Sprintf("%.2f", math.Max(0, math.Min(100, p)))
}

// ticks are two to six round times on an axis.
func ticks(whole time.Duration) []tickView {
	if whole <= 0 {
		return nil
	}
	step := time.Duration(math.Pow(10, math.Floor(math.Log10(float64(whole)))))
	switch r := whole / step; {
	case r >= 5:
		step *= 2
	case r < 2 && step > 1:
		step /= 2
	}
	var out []tickView
	for at := time.Duration(0); at <= whole; at += step {
		anchor := "middle"
		switch p := float64(at) / float64(whole); {
		case at == 0:
			anchor = "start"
		case p > 0.93:
			anchor = "end"
		}
		out = append(out, tickView{percent(at, whole), anchor, round(at)})
	}
	return out
}

// round is a round length of time.
func round(d time.Duration) string {
	switch {
	case d == 0:
		return "0"
	case d < time.Millisecond:
		return fmt.Sprintf("%g µs", float64(d)/float64(time.Microsecond))
	case d < time.Second:
		return fmt.Sprintf("%g ms", float64(d)/float64(time.Millisecond))
	default:
		return fmt.Sprintf("%g s", d.Seconds())
	}
}

// phaseView is a phase that was reached.
type phaseView struct{ Name, Took string }

func (v *pageView) phases(res *analyze.Result) {
	reached := map[finding.Phase]analyze.Span{}
	for _, s := range res.Spans {
		reached[s.Phase] = s
	}
	for _, p := range res.Coverage.Phases {
		pv := phaseView{Name: string(p)}
		if s := reached[p]; s.End-s.Start >= time.Microsecond {
			pv.Took = duration(s.End - s.Start)
		}
		v.Phases = append(v.Phases, pv)
	}
}
