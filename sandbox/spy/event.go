package spy

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/spy/reassembly"
)

// headSize is the size of struct head in kernel.bpf.h, and the flags are its flags.
const (
	headSize = 128

	flagStart    = 1
	flagFromRead = 2
	flagMet      = 4
	flagEnd      = 8
)

var errShort = errors.New("an event of the kernel's is shorter than its head says")

// read makes a chunk of an event, whose bytes it copies.
func read(p []byte) (*reassembly.Chunk, error) {
	if len(p) < headSize {
		return nil, errShort
	}
	n := binary.NativeEndian
	size, flags := n.Uint32(p[80:]), n.Uint32(p[84:])
	if uint64(size) > uint64(len(p)-headSize) {
		return nil, errShort
	}
	c := &reassembly.Chunk{
		Time: time.Duration(n.Uint64(p[48:])), At: n.Uint64(p[56:]), Inode: n.Uint64(p[72:]),
		Start: flags&flagStart != 0, Read: flags&flagFromRead != 0, Met: flags&flagMet != 0, End: flags&flagEnd != 0,
		Missing: n.Uint32(p[88:]), FD: int32(n.Uint32(p[104:])),
	}
	copy(c.Key.From[:], p)
	copy(c.Key.To[:], p[16:])
	c.Key.FromPort, c.Key.ToPort = n.Uint16(p[32:]), n.Uint16(p[34:])
	c.Key.Kind, c.Key.NetNS = reassembly.Kind(n.Uint32(p[36:])), n.Uint32(p[40:])
	comm, _, _ := bytes.Cut(p[112:headSize], []byte{0})
	c.Process = reassembly.Process{PID: int(n.Uint32(p[92:])), Comm: string(comm), UID: int(n.Uint32(p[100:])), CgroupID: n.Uint64(p[64:])}
	if size > 0 {
		c.Data = bytes.Clone(p[headSize : headSize+size])
	}
	return c, nil
}

// binaryInode is the inode of a pipe's key.
func binaryInode(k reassembly.Key) uint64 { return binary.NativeEndian.Uint64(k.From[:8]) }
