package coverage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/buildinfo"
	"debug/elf"
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
	// Table is the digest of its table of functions, which tells the program from others, and
	// TableAt and TableSize are where in the file that stands.
	Table              [sha256.Size]byte
	TableAt, TableSize int64
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

// Bounds of a compiled program: the bytes that are read of it, of its table, of one function and of
// all own functions, the number of these, and of the places in them that are watched.
const (
	maxProgram    = 512 << 20
	maxGoTable    = 64 << 20
	maxGoFunction = 1 << 20
	maxGoCode     = 64 << 20
	maxOwn        = 100_000
	maxInstances  = 10_000
	maxProbes     = 2_000
)

// ReadNative reads the functions of a program that Go built: those of its main module, with what
// they call. Nothing of it runs. Code.Unread counts the own functions beyond a bound.
func ReadNative(ctx context.Context, f io.ReaderAt) (*Native, error) {
	r := &bounded{ctx: ctx, r: f, left: maxProgram}
	n, data, err := openNative(r)
	if err == nil {
		err = n.read(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case r.left < 0:
		return nil, fmt.Errorf("read the program: it takes more than %d MiB", maxProgram>>20)
	case err != nil:
		return nil, err
	}
	out, err := n.native()
	if err != nil {
		return nil, err
	}
	section := goSection(n.elf)
	out.Table, out.TableAt, out.TableSize = sha256.Sum256(data), int64(section.Offset), int64(len(data)) //nolint:gosec // debug/elf refuses a negative one
	return out, nil
}

// openNative finds the table of functions, and the module of a program.
func openNative(r *bounded) (*nativeReader, []byte, error) {
	if !plausible(r) {
		return nil, nil, ErrNoGo
	}
	e, err := elf.NewFile(r)
	if err != nil {
		return nil, nil, ErrNoGo
	}
	section, text := goSection(e), e.Section(".text")
	// A program finds its table in its memory, where nothing is compressed.
	if section == nil || text == nil || section.Type == elf.SHT_NOBITS || section.Flags&elf.SHF_COMPRESSED != 0 {
		return nil, nil, ErrNoGo
	}
	if section.Size > maxGoTable {
		return nil, nil, fmt.Errorf("read the program: its table of functions has more than %d MiB", maxGoTable>>20)
	}
	data, err := section.Data()
	if err != nil {
		return nil, nil, ErrNoGo
	}
	table, err := parseGoTable(data, text.Addr)
	if err != nil {
		return nil, nil, err
	}
	info, err := buildinfo.Read(r)
	if err != nil {
		return nil, nil, ErrNoGo
	}
	return &nativeReader{elf: e, table: table, module: info.Main.Path, at: map[uint64]int{}}, data, nil
}

// bounded is a program that is read until ctx ends, and no more of it than a bound.
type bounded struct {
	ctx  context.Context
	r    io.ReaderAt
	left int64
}

// ReadAt implements io.ReaderAt.
func (b *bounded) ReadAt(p []byte, off int64) (int, error) {
	if b.ctx.Err() != nil {
		return 0, context.Cause(b.ctx)
	}
	if b.left -= int64(len(p)); b.left < 0 {
		return 0, errors.New("it is too large")
	}
	return b.r.ReadAt(p, off)
}

// plausible reports whether a program's head is one that a linker of Go writes. debug/elf searches all
// names of sections for each section, and inflates them where the head says so.
func plausible(r io.ReaderAt) bool {
	const sections, segments, names, section = 4096, 128, 64 << 10, 64
	var head, strtab [section]byte
	if _, err := r.ReadAt(head[:], 0); err != nil || string(head[:6]) != "\x7fELF\x02\x01" {
		return false
	}
	half := func(at int) int64 { return int64(binary.LittleEndian.Uint16(head[at:])) }
	offset, size, count, index := int64(binary.LittleEndian.Uint64(head[40:])), half(58), half(60), half(62) //nolint:gosec // it is compared
	if half(56) > segments || size != section || count == 0 || count > sections || index >= count || offset <= 0 || offset > 1<<62 {
		return false
	}
	if _, err := r.ReadAt(strtab[:], offset+index*section); err != nil {
		return false
	}
	flags := elf.SectionFlag(binary.LittleEndian.Uint64(strtab[8:])) //nolint:gosec // bits
	return flags&elf.SHF_COMPRESSED == 0 && binary.LittleEndian.Uint64(strtab[32:]) <= names
}

// goSection is the section with the names and places of a Go program's functions.
func goSection(e *elf.File) *elf.Section {
	if s := e.Section(".gopclntab"); s != nil {
		return s
	}
	return e.Section(".data.rel.ro.gopclntab")
}

// nativeReader is one reading under way.
type nativeReader struct {
	elf    *elf.File
	table  *goTable
	module string
	own    []goFunction
	// at is the place in own of the function that begins at an address.
	at     map[uint64]int
	unread int
	sites  int
}

// goFunction is a function of the main module.
type goFunction struct {
	// number is its place in the table.
	number     int
	name, file string
	entry, end uint64
	line       int
	// calls are the own functions that it calls, by their places in nativeReader.own.
	calls []int
	sites []site
}

// site is a call of a function that acts on the world.
type site struct {
	at    uint64
	line  int
	name  string
	kinds []sinks.Kind
}

// isOwn reports whether a package belongs to the main module.
func (n *nativeReader) isOwn(pkg string) bool {
	return pkg == "main" || n.module != "" && n.module != "command-line-arguments" && (pkg == n.module || strings.HasPrefix(pkg, n.module+"/"))
}

// read lists the own functions, and then what each calls.
func (n *nativeReader) read(ctx context.Context) error {
	if err := n.list(ctx); err != nil {
		return err
	}
	for i := range n.own {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		n.look(&n.own[i])
		if n.sites > maxProbes {
			return errManyPlaces
		}
	}
	return nil
}

// list finds the own functions within the bounds.
func (n *nativeReader) list(ctx context.Context) error {
	left, instances := uint64(maxGoCode), maxInstances
	for i := range n.table.n {
		if i%4096 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		entry, end := n.table.entry(i), n.table.entry(i+1)
		if end < entry {
			return errGoTable // the runtime refuses such a one
		}
		raw, whole := n.table.name(i)
		if !whole {
			raw, _, _ = bytes.Cut(raw, []byte("["))
		}
		name := string(raw)
		if end == entry || !n.isOwn(packageOf(name)) {
			continue
		}
		if !whole && instances > 0 {
			instances--
			name, whole = n.table.instance(i)
		}
		if !whole || end-entry > min(maxGoFunction, left) || len(n.own) >= maxOwn {
			n.unread++
			continue
		}
		left -= end - entry
		n.at[entry] = len(n.own)
		n.own = append(n.own, goFunction{number: i, name: strings.ReplaceAll(name, "%2e", "."), entry: entry, end: end})
	}
	return nil
}

// look finds where a function stands in the source, and what it calls.
func (n *nativeReader) look(f *goFunction) {
	f.file = n.place(packageOf(f.name), n.table.file(f.number))
	addresses := []uint64{f.entry}
	for _, c := range callsIn(n.elf.Machine, n.code(f.entry, f.end), f.entry) {
		if i, ok := n.at[c.to]; ok {
			f.calls = append(f.calls, i)
			continue
		}
		called, ok := n.table.find(c.to)
		if !ok {
			continue
		}
		name, _ := n.table.name(called)
		if kinds := goSinks[string(name)]; len(kinds) > 0 && n.sites <= maxProbes {
			n.sites++
			f.sites = append(f.sites, site{at: c.at, name: string(name), kinds: kinds})
			addresses = append(addresses, c.at)
		}
	}
	slices.Sort(f.calls)
	f.calls = slices.Compact(f.calls)
	lines := n.table.linesOf(f.number, addresses)
	f.line = lines[0]
	for i := range f.sites {
		f.sites[i].line = lines[i+1]
	}
}

// place is a source file from the root of its module, as far as the program tells it.
func (n *nativeReader) place(pkg, file string) string {
	pkg = strings.TrimPrefix(strings.TrimPrefix(pkg, n.module), "/")
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

// leading says of each own function whether it calls what acts on the world, by itself or through others.
func (n *nativeReader) leading() []bool {
	callers, out := make([][]int, len(n.own)), make([]bool, len(n.own))
	var queue []int
	for i := range n.own {
		for _, c := range n.own[i].calls {
			callers[c] = append(callers[c], i)
		}
		if len(n.own[i].sites) > 0 {
			out[i], queue = true, append(queue, i)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, c := range callers[queue[0]] {
			if !out[c] {
				out[c], queue = true, append(queue, c)
			}
		}
	}
	return out
}

var errManyPlaces = fmt.Errorf("the program has more places to watch in functions that act on the world than %d", maxProbes)

// native makes the functions that lead to something comparable with what ran.
func (n *nativeReader) native() (*Native, error) {
	out := &Native{Code: &Code{at: map[string]int{}, owners: map[string]owner{}, branches: map[string][]branch{}, unread: n.unread}}
	leads := n.leading()
	at := func(line int) lang.Pos { return lang.At(0, line, 1) }
	probe := func(addr uint64, p probed) {
		if offset, ok := n.offset(addr); ok {
			out.Probes, out.probed = append(out.Probes, offset), append(out.probed, p)
		}
	}
	for i := range n.own {
		f := &n.own[i]
		if !leads[i] {
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
			if leads[c] {
				fn.Calls = append(fn.Calls, n.own[c].file+":"+n.own[c].name)
			}
		}
		slices.Sort(fn.Calls)
		fn.Calls = slices.Compact(fn.Calls)
		out.at[fn.ID()] = len(out.functions)
		out.functions = append(out.functions, fn)
		if len(out.Probes) > maxProbes {
			return nil, errManyPlaces
		}
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
