//go:build linux && (amd64 || arm64)

package tlsread

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
)

// probe is a program at a place in a file.
type probe struct {
	program string
	offset  uint64
	returns bool
}

// function is one that is watched, by its name.
type function struct {
	name    string
	program string
	returns bool
	// reads says that it is of use only to who wants what was received.
	reads bool
}

// cFunctions are those of the C libraries. What makes a connection comes last: one that is
// seen to begin is then watched in all else.
var cFunctions = []function{
	{name: "SSL_write", program: "c_write"},
	{name: "SSL_write", program: "c_write_return", returns: true},
	{name: "SSL_write_ex", program: "c_write_ex"},
	{name: "SSL_write_ex", program: "c_write_ex_return", returns: true},
	{name: "SSL_do_handshake", program: "c_touch"},
	{name: "SSL_connect", program: "c_touch"},
	{name: "SSL_accept", program: "c_touch"},
	{name: "SSL_read", program: "c_read", reads: true},
	{name: "SSL_read", program: "c_read_return", returns: true, reads: true},
	{name: "SSL_read_ex", program: "c_read_ex", reads: true},
	{name: "SSL_read_ex", program: "c_read_ex_return", returns: true, reads: true},
	{name: "SSL_ctrl", program: "c_ctrl"},
	{name: "SSL_set_tlsext_host_name", program: "c_name"},
	{name: "SSL_free", program: "c_free"},
	{name: "SSL_new", program: "c_new", returns: true},
	{name: "gnutls_record_send", program: "c_write"},
	{name: "gnutls_record_send", program: "c_write_return", returns: true},
	{name: "gnutls_record_recv", program: "c_read", reads: true},
	{name: "gnutls_record_recv", program: "c_read_return", returns: true, reads: true},
	{name: "gnutls_deinit", program: "c_free"},
	{name: "gnutls_handshake", program: "c_greet"},
}

// goFunctions are those of crypto/tls.
var goFunctions = []function{
	{name: "crypto/tls.(*Conn).Write", program: "go_write"},
	{name: "crypto/tls.(*Conn).writeRecordLocked", program: "go_record"},
	{name: "crypto/tls.(*Conn).Read", program: "go_read", reads: true},
	{name: "crypto/tls.(*Conn).Read", program: "go_read_return", returns: true, reads: true},
	{name: "crypto/tls.(*Conn).clientHandshake", program: "go_handshake"},
}

// touching are the programs that stand in for one that reads, where nobody wants what was received.
var touching = map[string]string{"c_read": "c_touch", "c_read_ex": "c_touch"}

// The bounds on a file's tables in bytes: those of the largest programs are a quarter of it.
const (
	maxTable    = 64 << 20
	maxSymbols  = 16 << 20
	maxSections = 1 << 10
	maxFunction = 1 << 20
)

// errNone says that a file holds no function that is watched.
var errNone = errors.New("TLS reader: the file holds no TLS library that is known")

// symbol is a function in a file: its place there, and its length.
type symbol struct{ offset, size uint64 }

// inspect finds the places of a file that are to be watched.
func inspect(r io.ReaderAt, reads bool) (probes []probe, err error) {
	defer func() {
		// debug/elf is told of hostile files; a fault in it must not end a run.
		if x := recover(); x != nil {
			err = fmt.Errorf("TLS reader: read the file's tables: %v", x)
		}
	}()
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("TLS reader: read the file: %w", err)
	}
	if len(f.Sections) > maxSections || f.Class != elf.ELFCLASS64 || f.Machine != machine {
		return nil, errNone
	}
	if goProgram(f) {
		return goProbes(f, reads)
	}
	found := cSymbols(f)
	if _, ok := found["SSL_new"]; !ok {
		if _, ok = found["gnutls_handshake"]; !ok {
			return nil, errNone
		}
	}
	for _, fn := range cFunctions {
		s, ok := found[fn.name]
		program := fn.program
		if fn.reads && !reads {
			program, ok = touching[fn.program], ok && touching[fn.program] != ""
		}
		if ok {
			probes = append(probes, probe{program, s.offset, fn.returns})
		}
	}
	return probes, nil
}

// cSymbols are the functions of C libraries that a file defines: by the table that the
// dynamic linker uses, or else by the one that stripping takes away.
func cSymbols(f *elf.File) map[string]symbol {
	wanted := map[string]bool{}
	for _, fn := range cFunctions {
		wanted[fn.name] = true
	}
	found := map[string]symbol{}
	if bounded(f, elf.SHT_DYNSYM) {
		list, _ := f.DynamicSymbols()
		pick(f, list, wanted, found)
	}
	if len(found) == 0 && bounded(f, elf.SHT_SYMTAB) {
		list, _ := f.Symbols()
		pick(f, list, wanted, found)
	}
	return found
}

// bounded reports whether a table of symbols is there, and neither it nor its names are
// larger than those of honest files.
func bounded(f *elf.File, kind elf.SectionType) bool {
	s := f.SectionByType(kind)
	return s != nil && s.FileSize <= maxSymbols && s.Size <= maxSymbols && int(s.Link) < len(f.Sections) &&
		f.Sections[s.Link].FileSize <= maxTable && f.Sections[s.Link].Size <= maxTable
}

func pick(f *elf.File, list []elf.Symbol, wanted map[string]bool, found map[string]symbol) {
	for i := range list {
		s := &list[i]
		if !wanted[s.Name] || s.Section == elf.SHN_UNDEF || elf.ST_TYPE(s.Info) != elf.STT_FUNC {
			continue
		}
		if offset, ok := place(f, s.Value); ok {
			found[s.Name] = symbol{offset, s.Size}
		}
	}
}

// place is where in the file the code of an address stands.
func place(f *elf.File, addr uint64) (uint64, bool) {
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && addr >= p.Vaddr && addr-p.Vaddr < p.Filesz {
			return addr - p.Vaddr + p.Off, true
		}
	}
	return 0, false
}
