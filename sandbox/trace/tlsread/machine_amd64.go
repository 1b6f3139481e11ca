//go:build linux

package tlsread

import (
	"debug/elf"

	"golang.org/x/arch/x86/x86asm"
)

const machine = elf.EM_X86_64

// prologues are how Go's functions begin from 1.17 on: they compare the stack pointer, or a
// place below it, with the bound that R14's goroutine has.
var prologues = [][]byte{{0x49, 0x3b, 0x66, 0x10}, {0x4c, 0x8d, 0x64, 0x24}, {0x4c, 0x8d, 0xa4, 0x24}}

// returns are the places in a function's code at which it returns, nil where an instruction
// is not known: a probe in the middle of one would break the program.
func returns(code []byte) []uint64 {
	var out []uint64
	for at := 0; at < len(code); {
		i, err := x86asm.Decode(code[at:], 64)
		if err != nil || i.Len == 0 {
			return nil
		}
		if i.Op == x86asm.RET {
			out = append(out, uint64(at))
		}
		at += i.Len
	}
	return out
}
