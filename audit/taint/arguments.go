package taint

import (
	"slices"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// callInfo is a call whose parts are evaluated.
type callInfo struct {
	call lang.Call
	// names are as the facts have them, and canonical as the tables do.
	names, own, canonical []string
	// receiver and method are set for x.m(…), and recv is the receiver's value.
	receiver lang.Expr
	method   string
	recv     *value
	args     []*value
	named    map[string]*value
	// open is the number of arguments up to the last that stands for a list of unknown length, 0 for none.
	open int
	// program is that which a sink starts, and end what the path of a sink ends with, where
	// these are known.
	program, end string
	// callee is the value of what is called, where it is a function.
	callee *value
}

// arg is an argument by position.
func (c *callInfo) arg(i int) *value {
	if i < len(c.args) {
		return c.args[i]
	}
	return nothing
}

// positional are the arguments by position for a function of some parameters. A list of unknown length fills those
// that no other argument is for.
func (c *callInfo) positional(params int) []*value {
	missing := params - len(c.args)
	if c.open == 0 || missing <= 0 {
		return c.args
	}
	return slices.Insert(slices.Clone(c.args), c.open, slices.Repeat([]*value{c.args[c.open-1]}, missing)...)
}

// all are the arguments by position, then those by name.
func (c *callInfo) all() []*value {
	out := slices.Clone(c.args)
	for _, k := range sortedKeys(c.named) {
		out = append(out, c.named[k])
	}
	return out
}

func (c *callInfo) hasFunction() bool {
	return slices.ContainsFunc(c.args, func(v *value) bool { return v.call != nil })
}
