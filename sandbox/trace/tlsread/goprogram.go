//go:build linux && (amd64 || arm64)

package tlsread

import (
	"bytes"
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"io"
	"slices"
)

func goProgram(f *elf.File) bool { return goTable(f) != nil }

// pcHeader is the least length of a table of functions: its head.
const pcHeader = 64

// goTable is the section with the names and places of a Go program's functions.
func goTable(f *elf.File) *elf.Section {
	if s := f.Section(".gopclntab"); s != nil {
		return s
	}
	return f.Section(".data.rel.ro.gopclntab")
}

// goProbes finds the functions of crypto/tls. Before Go 1.17 arguments were on the stack:
// such a program's functions begin otherwise.
func goProbes(f *elf.File, reads bool) ([]probe, error) {
	found := goSymbols(f)
	var probes []probe
	for _, fn := range goFunctions {
		s, ok := found[fn.name]
		switch {
		case !ok || fn.reads && !reads:
		case !fn.returns:
			probes = append(probes, probe{fn.program, s.offset, false})
		default:
			for _, at := range returns(code(f, s)) {
				// A return probe of the kernel's would break the runtime's stacks.
				probes = append(probes, probe{fn.program, s.offset + at, false})
			}
		}
	}
	if len(probes) == 0 {
		return nil, errNone
	}
	return probes, nil
}

// goSymbols finds them in the table of symbols, or where that was stripped in the runtime's own.
func goSymbols(f *elf.File) map[string]symbol {
	wanted := map[string]bool{}
	for _, fn := range goFunctions {
		wanted[fn.name] = true
	}
	found := map[string]symbol{}
	if bounded(f, elf.SHT_SYMTAB) {
		list, _ := f.Symbols()
		pick(f, list, wanted, found)
	}
	if len(found) == 0 {
		runtimeSymbols(f, wanted, found)
	}
	for name, s := range found {
		if !startsFunction(code(f, s)) {
			delete(found, name)
		}
	}
	return found
}

// startsFunction reports whether instructions begin as a function of Go's that needs a stack.
func startsFunction(b []byte) bool {
	return slices.ContainsFunc(prologues, func(p []byte) bool { return bytes.HasPrefix(b, p) })
}

// What a C linker puts before Go's text, at most, and the alignment of what follows.
const (
	maxBefore = 64 << 10
	alignment = 16
)

// shift is how far behind the section's begin Go's text begins: nothing, or what the C linker put before
// it. There each of the functions begins as one. A negative number says that there is no such place.
func shift(f *elf.File, funcs []gosym.Func) int64 {
	longest := 0
	for _, p := range prologues {
		longest = max(longest, len(p))
	}
	starts := func(by uint64) bool {
		return !slices.ContainsFunc(funcs, func(fn gosym.Func) bool {
			offset, ok := place(f, fn.Entry+by)
			return !ok || !startsFunction(code(f, symbol{offset, uint64(longest)}))
		})
	}
	for by := uint64(0); by <= maxBefore && len(funcs) > 0; by += alignment {
		if starts(by) {
			return int64(by)
		}
	}
	return -1
}

// runtimeSymbols reads the table by which the runtime names functions in a trace of calls. Its
// places are counted from the begin of Go's text.
func runtimeSymbols(f *elf.File, wanted map[string]bool, found map[string]symbol) {
	section, text := goTable(f), f.Section(".text")
	if section == nil || text == nil || section.Size > maxTable || section.FileSize > maxTable {
		return
	}
	data, err := section.Data()
	// debug/gosym makes room for as many functions as the table's head says (runtime.pcHeader).
	if err != nil || len(data) < pcHeader || binary.LittleEndian.Uint64(data[8:]) > uint64(len(data)/8) {
		return
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr))
	if err != nil {
		return
	}
	var funcs []gosym.Func
	for i := range table.Funcs {
		if fn := &table.Funcs[i]; wanted[fn.Name] && fn.End > fn.Entry {
			funcs = append(funcs, *fn)
		}
	}
	by := shift(f, funcs)
	if by < 0 {
		return
	}
	for _, fn := range funcs {
		if offset, ok := place(f, fn.Entry+uint64(by)); ok {
			found[fn.Name] = symbol{offset, fn.End - fn.Entry}
		}
	}
}

// code is a function's instructions, nil for one that is longer than honest ones.
func code(f *elf.File, s symbol) []byte {
	if s.size == 0 || s.size > maxFunction {
		return nil
	}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && s.offset >= p.Off && s.offset-p.Off+s.size <= p.Filesz {
			b := make([]byte, s.size)
			if _, err := io.ReadFull(io.NewSectionReader(p, int64(s.offset-p.Off), int64(s.size)), b); err != nil {
				return nil
			}
			return b
		}
	}
	return nil
}
