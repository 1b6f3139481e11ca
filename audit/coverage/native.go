package coverage

import (
	"bytes"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
	"debug/gosym"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// Native is the own code of a compiled program, and the places at which a run has to show what of it runs.
type Native struct {
	*Code
	// Table tells the program from others: the digest of its table of functions.
	Table [sha256.Size]byte
	// Probes are offsets in the file: where functions begin, and where they call one that acts
	// on the world.
	Probes []uint64
	// probed says of each of Probes what ran when it was reached.
	probed []probed
}

// probed is a function that began, or a line of it that ran.
type probed struct {
	file, name string
	line       int
}

// ErrNoGo says that a program was not built by Go, or has no table of its functions.
var ErrNoGo = errors.New("it is no program of Go with a table of functions")

// Bounds of a compiled program: its table and one function in bytes, and what is watched of it.
const (
	maxGoTable    = 96 << 20
	maxGoFunction = 1 << 20
	maxOwn        = 20_000
	maxProbes     = 2_000
	// goTableHead is the least length of a table of functions: its head.
	goTableHead = 64
)

// ReadNative reads the functions of a program that Go built: those of its main module, with what
// they call. Nothing of it runs.
func ReadNative(f io.ReaderAt) (*Native, error) {
	e, err := elf.NewFile(f)
	if err != nil {
		return nil, fmt.Errorf("read the program: %w", err)
	}
	section, text := goTable(e), e.Section(".text")
	if section == nil || text == nil || section.Size > maxGoTable {
		return nil, ErrNoGo
	}
	data, err := section.Data()
	// debug/gosym makes room for as many functions as the table's head says (runtime.pcHeader).
	if err != nil || len(data) < goTableHead || binary.LittleEndian.Uint64(data[8:]) > uint64(len(data)/8) {
		return nil, ErrNoGo
	}
	table, err := gosym.NewTable(nil, gosym.NewLineTable(data, text.Addr))
	if err != nil {
		return nil, ErrNoGo
	}
	info, err := buildinfo.Read(f)
	if err != nil {
		return nil, ErrNoGo
	}
	n := &nativeReader{elf: e, table: table, module: info.Main.Path, names: map[uint64]string{}}
	n.read()
	return n.native(sha256.Sum256(data))
}

// goTable is the section with the names and places of a Go program's functions.
func goTable(e *elf.File) *elf.Section {
	if s := e.Section(".gopclntab"); s != nil {
		return s
	}
	return e.Section(".data.rel.ro.gopclntab")
}

// nativeReader is one reading under way.
type nativeReader struct {
	elf    *elf.File
	table  *gosym.Table
	module string
	// names are all functions by their addresses.
	names map[uint64]string
	own   []goFunction
}

// goFunction is a function of the main module.
type goFunction struct {
	name, file string
	entry, end uint64
	line       int
	calls      []string
	sites      []site
}

// site is a call of a function that acts on the world.
type site struct {
	at    uint64
	line  int
	name  string
	kinds []sinks.Kind
}

// isOwn reports whether a function belongs to the main module.
func (n *nativeReader) isOwn(fn *gosym.Func) bool {
	pkg := strings.ReplaceAll(fn.PackageName(), "%2e", ".")
	return pkg == "main" || n.module != "" && n.module != "command-line-arguments" && (pkg == n.module || strings.HasPrefix(pkg, n.module+"/"))
}

func (n *nativeReader) read() {
	for i := range n.table.Funcs {
		n.names[n.table.Funcs[i].Entry] = n.table.Funcs[i].Name
	}
	for i := range n.table.Funcs {
		fn := &n.table.Funcs[i]
		if !n.isOwn(fn) || fn.End <= fn.Entry || fn.End-fn.Entry > maxGoFunction || len(n.own) >= maxOwn {
			continue
		}
		file, line, _ := n.table.PCToLine(fn.Entry)
		own := goFunction{name: strings.ReplaceAll(fn.Name, "%2e", "."), entry: fn.Entry, end: fn.End, line: line}
		own.file = n.place(fn.PackageName(), file)
		for _, c := range callsIn(n.elf.Machine, n.code(fn.Entry, fn.End), fn.Entry) {
			to, ok := n.names[c.to]
			if !ok {
				continue
			}
			if kinds := goSinks[to]; len(kinds) > 0 {
				_, line, _ := n.table.PCToLine(c.at)
				own.sites = append(own.sites, site{c.at, line, to, kinds})
			} else {
				own.calls = append(own.calls, strings.ReplaceAll(to, "%2e", "."))
			}
		}
		n.own = append(n.own, own)
	}
}

// place is a source file from the root of its module, as far as the program tells it.
func (n *nativeReader) place(pkg, file string) string {
	pkg = strings.TrimPrefix(strings.TrimPrefix(strings.ReplaceAll(pkg, "%2e", "."), n.module), "/")
	if pkg == "main" || n.module == "" {
		pkg = ""
	}
	return path.Join(pkg, path.Base(strings.ReplaceAll(file, "\\", "/")))
}

// code is what stands between two addresses.
func (n *nativeReader) code(from, to uint64) []byte {
	offset, ok := n.offset(from)
	if !ok {
		return nil
	}
	b := make([]byte, to-from)
	for _, p := range n.elf.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && offset >= p.Off && offset-p.Off+uint64(len(b)) <= p.Filesz {
			if _, err := p.ReadAt(b, int64(offset-p.Off)); err != nil { //nolint:gosec // it is within the file
				return nil
			}
			return b
		}
	}
	return nil
}

// offset is where in the file the code of an address stands.
func (n *nativeReader) offset(addr uint64) (uint64, bool) {
	for _, p := range n.elf.Progs {
		if p.Type == elf.PT_LOAD && p.Flags&elf.PF_X != 0 && addr >= p.Vaddr && addr-p.Vaddr < p.Filesz {
			return addr - p.Vaddr + p.Off, true
		}
	}
	return 0, false
}

// leading are the functions that call what acts on the world, by themselves or through others.
func (n *nativeReader) leading() map[string]bool {
	callers := map[string][]string{}
	out := map[string]bool{}
	var queue []string
	for i := range n.own {
		f := &n.own[i]
		for _, c := range f.calls {
			callers[c] = append(callers[c], f.name)
		}
		if len(f.sites) > 0 && !out[f.name] {
			out[f.name] = true
			queue = append(queue, f.name)
		}
	}
	for len(queue) > 0 {
		for _, c := range callers[queue[0]] {
			if !out[c] {
				out[c] = true
				queue = append(queue, c)
			}
		}
		queue = queue[1:]
	}
	return out
}

// native makes the functions that lead to something comparable with what ran.
func (n *nativeReader) native(sum [sha256.Size]byte) (*Native, error) {
	out := &Native{Code: &Code{at: map[string]int{}, owners: map[string]owner{}, branches: map[string][]branch{}}, Table: sum}
	leads := n.leading()
	at := func(line int) lang.Pos { return lang.At(0, line, 1) }
	probe := func(addr uint64, p probed) {
		if offset, ok := n.offset(addr); ok {
			out.Probes, out.probed = append(out.Probes, offset), append(out.probed, p)
		}
	}
	ids := map[string]string{}
	for i := range n.own {
		ids[n.own[i].name] = n.own[i].file + ":" + n.own[i].name
	}
	for i := range n.own {
		f := &n.own[i]
		if !leads[f.name] {
			continue
		}
		begin := at(f.line)
		fn := sinks.Function{File: f.file, Name: f.name, Span: lang.Span{Start: begin, End: begin}, Parts: []sinks.Part{{Head: begin, Body: begin, End: begin}}}
		probe(f.entry, probed{f.file, f.name, f.line})
		for _, s := range f.sites {
			for _, k := range s.kinds {
				fn.Sinks = append(fn.Sinks, sinks.Sink{Span: lang.Span{Start: at(s.line), End: at(s.line)}, Kind: k, Name: s.name, Called: true})
			}
			probe(s.at, probed{f.file, "", s.line})
		}
		for _, c := range f.calls {
			if id, ok := ids[c]; ok && leads[c] {
				fn.Calls = append(fn.Calls, id)
			}
		}
		slices.Sort(fn.Calls)
		fn.Calls = slices.Compact(fn.Calls)
		out.at[fn.ID()] = len(out.functions)
		out.functions = append(out.functions, fn)
	}
	if len(out.Probes) > maxProbes {
		return nil, fmt.Errorf("the program has more functions that act on the world than are watched (%d)", len(out.Probes))
	}
	return out, nil
}

// Recording is what ran, by which of Probes were reached, in the form that Recording.Add reads.
func (n *Native) Recording(reached []bool) []byte {
	var b bytes.Buffer
	numbers := map[string]string{}
	for i, p := range n.probed {
		number, ok := numbers[p.file]
		if !ok {
			number = strconv.Itoa(len(numbers))
			numbers[p.file] = number
			fmt.Fprintf(&b, "F\t%s\t%s\n", number, p.file)
		}
		switch {
		case i >= len(reached) || !reached[i]:
		case p.name == "":
			fmt.Fprintf(&b, "L\t%s\t%d\n", number, p.line)
		default:
			fmt.Fprintf(&b, "E\t%s\t%d\t%s\n", number, p.line, p.name[strings.LastIndexByte(p.name, '.')+1:])
		}
	}
	return b.Bytes()
}
