package bpf

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/maphash"
	"strconv"
	"strings"
)

// The kinds of events, and what they say besides; both are the kernel's side's.
const (
	eventCall = iota
	eventEarlyArgs
	eventForked
	eventExited
	eventSignal
	eventExeced
)

const (
	flagCompat = 1 << iota
	flagFatal
	flagCut
	flagLate
	flagLeader
	flagLast
	flagNoEnter
	flagScript
)

// What a blob is about: an argument (0 to 5), or one of these.
const (
	blobCwd = 6 + iota
	blobRoot
	blobResult
	blobWord
	blobPassed
	blobExe
)

// head is the kernel's struct head. headSize is its length in bytes.
type head struct {
	Time     uint64
	Args     [8]uint64
	Ret      int64
	Kind     uint32
	NR       uint32
	Flags    uint32
	TID      int32
	TGID     int32
	PID      int32
	Own      int32
	NS       uint32
	Child    int32
	ChildOwn int32
	ChildNS  uint32
	Size     uint32
	Said     uint32
	Pad      uint32
}

const headSize = 136

// blob is a piece of memory in an event.
type blob struct {
	what  uint8
	fault uint8
	data  []byte
}

// errShort says that an event is not one of the kernel's side's.
var errShort = errors.New("eBPF tracer: an event is cut short")

// event is a decoded event. Its slices are the sample's own.
type event struct {
	head
	blobs []blob
	known *known
}

// read takes an event apart.
func (e *event) read(b []byte) error {
	if len(b) < headSize {
		return errShort
	}
	n := binary.NativeEndian
	e.Time = n.Uint64(b)
	for i := range e.Args {
		e.Args[i] = n.Uint64(b[8+8*i:])
	}
	e.Ret = int64(n.Uint64(b[72:]))
	for i, to := range []*uint32{&e.Kind, &e.NR, &e.Flags} {
		*to = n.Uint32(b[80+4*i:])
	}
	for i, to := range []*int32{&e.TID, &e.TGID, &e.PID, &e.Own} {
		*to = int32(n.Uint32(b[92+4*i:]))
	}
	e.NS = n.Uint32(b[108:])
	e.Child, e.ChildOwn = int32(n.Uint32(b[112:])), int32(n.Uint32(b[116:]))
	e.ChildNS, e.Size = n.Uint32(b[120:]), n.Uint32(b[124:])
	rest := b[headSize:]
	if uint64(e.Size) > uint64(len(rest)) {
		return errShort
	}
	return e.cut(rest[:e.Size])
}

// cut finds the blobs.
func (e *event) cut(rest []byte) error {
	e.blobs = e.blobs[:0]
	for len(rest) > 0 {
		if len(rest) < 4 {
			return errShort
		}
		size := int(binary.NativeEndian.Uint16(rest[2:]))
		if len(rest) < 4+size {
			return errShort
		}
		e.blobs = append(e.blobs, blob{what: rest[0], fault: rest[1], data: rest[4 : 4+size]})
		rest = rest[4+size:]
	}
	return nil
}

// clone is the event with its own memory.
func (e *event) clone() *event {
	c := &event{head: e.head, blobs: make([]blob, len(e.blobs)), known: e.known}
	for i, b := range e.blobs {
		c.blobs[i] = blob{b.what, b.fault, append([]byte(nil), b.data...)}
	}
	return c
}

// merge takes what was told at a call's enter: only what was not in memory then
// stays as it was told at the exit.
func (e *event) merge(early *event) {
	late := append([]blob(nil), e.blobs...)
	e.blobs = e.blobs[:0]
	for _, b := range early.blobs {
		if b.fault == 0 {
			e.blobs = append(e.blobs, b)
		}
	}
	for _, b := range late {
		if _, ok := e.find(b.what); !ok {
			e.blobs = append(e.blobs, b)
		}
	}
}

// find returns the first blob about something.
func (e *event) find(what uint8) (blob, bool) {
	for _, b := range e.blobs {
		if b.what == what {
			return b, true
		}
	}
	return blob{}, false
}

// The file systems whose objects have no path.
const (
	magicSock = 0x534F434B
	magicPipe = 0x50495045
	magicAnon = 0x09041934
	magicPid  = 0x50494446
	magicNS   = 0x6e736673
)

// pathOf writes a path as the kernel's own d_path does.
func pathOf(data []byte) string {
	if len(data) < 16 {
		return ""
	}
	magic, ino := binary.NativeEndian.Uint64(data), strconv.FormatUint(binary.NativeEndian.Uint64(data[8:]), 10)
	names := strings.Split(strings.TrimSuffix(string(data[16:]), "\x00"), "\x00")
	switch magic {
	case magicSock:
		return "socket:[" + ino + "]"
	case magicPipe:
		return "pipe:[" + ino + "]"
	case magicPid:
		return "pid:" + ino
	case magicAnon:
		return "anon_inode:" + names[0]
	case magicNS:
		return "ns:[" + ino + "]"
	}
	size := 0
	for _, n := range names {
		size += 1 + len(n)
	}
	var b strings.Builder
	b.Grow(size)
	for i := len(names) - 1; i >= 0; i-- {
		b.WriteByte('/')
		b.WriteString(names[i])
	}
	return b.String()
}

// known are texts and paths that were told lately: a run names the same ones again
// and again. Its size is bounded.
type known struct {
	seed  maphash.Seed
	texts [knownSlots]string
	paths [knownSlots]struct{ raw, path string }
}

const (
	knownSlots  = 4096
	knownLength = 256
)

func newKnown() *known { return &known{seed: maphash.MakeSeed()} }

// text is textOf.
func (e *event) text(b blob) string {
	data := bytes.TrimSuffix(b.data, []byte{0})
	if e.known == nil || len(data) > knownLength {
		return string(data)
	}
	slot := &e.known.texts[maphash.Bytes(e.known.seed, data)%knownSlots]
	if *slot != string(data) {
		*slot = string(data)
	}
	return *slot
}

// path is pathOf.
func (e *event) path(b blob) string {
	if e.known == nil || len(b.data) > knownLength {
		return pathOf(b.data)
	}
	slot := &e.known.paths[maphash.Bytes(e.known.seed, b.data)%knownSlots]
	if slot.raw != string(b.data) {
		slot.raw, slot.path = string(b.data), pathOf(b.data)
	}
	return slot.path
}
