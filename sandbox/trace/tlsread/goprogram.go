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
		if !slices.ContainsFunc(prologues, func(p []byte) bool { return bytes.HasPrefix(code(f, s), p) }) {
			delete(found, name)
		}
	}
	return found
}

// runtimeSymbols reads the table by which the runtime names functions in a trace of calls. Its
// places are counted from the begin of the program's text, which is the section's where no C
// code is linked before it; what is found elsewhere does not begin as a function of Go's.
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
	for i := range table.Funcs {
		fn := &table.Funcs[i]
		if !wanted[fn.Name] || fn.End <= fn.Entry {
			continue
		}
		if offset, ok := place(f, fn.Entry); ok {
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
