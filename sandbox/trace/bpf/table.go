package bpf

import (
	"fmt"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// The sets of calls that can be traced, as package trace has them.
const (
	Core  = trace.Core
	Looks = trace.Looks
	IO    = trace.IO
)

// What the kernel's side is told to do with an argument, by its own numbers.
const (
	actNone = iota
	actString
	actText
	actFD
	actDir
	actHow
	actPair
	actAddr
	actAddrBack
	actMsg
	actMsgs
	actArgv
	actClone3
)

// What it is told to do with a call.
const (
	callWatch = 1 << iota
	callOpens
	callExec
	callMulti
	callEarly
)

// nCalls bounds the numbers of calls; those of today end below 480.
const nCalls = 512

// def is the kernel's struct def.
type def struct {
	Act   [6]uint8
	Flags uint8
	Pad   uint8
}

// The numbers of calls that only i386's call for all sockets makes.
const (
	accept386     = 500
	send386       = 501
	socketcall386 = 102
)

// abi is one way in which programs number the calls.
type abi struct {
	calls [nCalls]*trace.Call
	defs  [nCalls]def
}

// newABI makes the tables of one way.
func newABI(list map[string]int, set string) *abi {
	t := new(abi)
	for name, nr := range list {
		c := trace.Calls[name]
		if c == nil || !c.In(set) {
			continue
		}
		t.calls[nr] = c
		t.defs[nr] = define(c)
	}
	return t
}

// define says what the kernel's side has to do for a call.
func define(c *trace.Call) def {
	d := def{Flags: callWatch}
	if c.Opens {
		d.Flags |= callOpens
	}
	switch {
	case c.Op == trace.OpExec:
		d.Flags |= callExec
	case c.Op == trace.OpChdir, c.Name == "close", c.Name == "pivot_root":
		d.Flags |= callEarly
	}
	for i, kind := range c.Args {
		if i < len(d.Act) {
			d.Act[i] = act(c, kind)
		}
	}
	if c.Name == "clone3" {
		d.Act[0] = actClone3
	}
	return d
}

func act(c *trace.Call, kind trace.ArgKind) uint8 {
	switch kind {
	case trace.ArgPath, trace.ArgTo:
		return actString
	case trace.ArgText, trace.ArgName, trace.ArgGiven:
		return actText
	case trace.ArgFD, trace.ArgToFD, trace.ArgPidFD:
		return actFD
	case trace.ArgDir, trace.ArgToDir:
		return actDir
	case trace.ArgHow:
		return actHow
	case trace.ArgPair:
		return actPair
	case trace.ArgMsg:
		return actMsg
	case trace.ArgMsgs:
		return actMsgs
	case trace.ArgArgv:
		return actArgv
	case trace.ArgAddr:
		if c.Op == trace.OpAccept || c.Op == trace.OpRead {
			return actAddrBack
		}
		return actAddr
	}
	return actNone
}

// tables are the tables of a machine's two ways: its own and, on amd64, i386's.
func tables(arch, set string) (*[2]*abi, error) {
	switch arch {
	case "amd64":
		list := numbers(numbers386)
		list["accept"], list["send"] = accept386, send386
		t := &[2]*abi{newABI(numbers(numbersAMD64), set), newABI(list, set)}
		t[1].defs[socketcall386].Flags = callWatch | callMulti
		return t, nil
	case "arm64":
		return &[2]*abi{newABI(numbers(numbersARM64), set), new(abi)}, nil
	}
	return nil, fmt.Errorf("eBPF tracer: no table of calls for %s", arch)
}

// wanted are the flags of a number's calls in both ways.
func wanted(t *[2]*abi) (out [nCalls]uint8) {
	for i := range out {
		out[i] = t[0].defs[i].Flags | t[1].defs[i].Flags
	}
	return out
}

// socketcalls are the calls that i386's call for all sockets stands for.
func socketcalls() (out [32]uint16) {
	list := numbers(numbers386)
	list["accept"], list["send"] = accept386, send386
	for i, name := range map[int]string{
		1: "socket", 2: "bind", 3: "connect", 4: "listen", 5: "accept", 8: "socketpair", 9: "send", 11: "sendto",
		12: "recvfrom", 16: "sendmsg", 17: "recvmsg", 18: "accept4", 19: "recvmmsg", 20: "sendmmsg",
	} {
		out[i] = uint16(list[name])
	}
	return out
}
