package synth

import "time"

const (
	// ClassRows is the class of a call in which services answer with lists of a program and its arguments.
	ClassRows = "rows"
	// rowsTime bounds these calls.
	rowsTime = 15 * time.Second
)

// rows calls each tool that asked a service once more for each kind of answer that holds commands
// as lists: code that runs lists of words ignores the texts of all other answers.
func (d *driver) rows() {
	end := d.cfg.Now().Add(rowsTime)
	for _, turn := range d.cfg.Rows {
		for _, t := range order(d.tools) {
			if !t.asks || t.leftAlone() || t.slow {
				continue
			}
			if d.stopped != nil || d.cfg.Now().After(end) || !d.more() {
				return
			}
			d.carryOut(t, Call{What: WhatTool, Tool: t.name, Args: d.baseOf(t), Class: ClassRows, Turn: turn}, 1)
		}
	}
}
