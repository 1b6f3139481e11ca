package coverage

import (
	"bytes"
	"context"
	"crypto/sha256"
	"debug/elf"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// madeUp is a program as Go's linker lays it out, of parts that a test chooses.
type madeUp struct {
	// names has the functions' names, each with a zero byte, and at is where each begins.
	names []byte
	at    []uint32
	// size is how long each function is, and code what stands in each.
	size uint32
	code []byte
	// lines is the table of values by addresses, which is that of all functions' files and lines.
	lines []byte
	// claimed is the number of functions that the head claims, 0 for the true one.
	claimed uint64
	// backward says that the list of functions is not in order.
	backward bool
	// compressed is the number of the section that says it is compressed, and grow makes the table longer.
	compressed, grow int
}

// functions makes a program of some names.
func functions(names ...string) *madeUp {
	m := &madeUp{size: 16, code: []byte{0xc3}, lines: []byte{0, 2, 255, 1, 0, 4, 255, 1, 0}}
	for _, n := range names {
		m.at = append(m.at, uint32(len(m.names)))
		m.names = append(m.names, n+"\x00"...)
	}
	return m
}

// The sections of a made-up program, and where its code is.
const (
	textSection, tableSection, namesSection = 1, 2, 4
	codeAt                                  = 1 << 12
)

// table is the program's .gopclntab.
func (m *madeUp) table() []byte {
	le := binary.LittleEndian
	n := uint64(len(m.at))
	files := []byte("/src/main.go\x00")
	head := le.AppendUint32(nil, magic120)
	head = append(head, 0, 0, 1, 8)
	claimed := n
	if m.claimed != 0 {
		claimed = m.claimed
	}
	at := uint64(8 + 8*8)
	head = le.AppendUint64(le.AppendUint64(le.AppendUint64(head, claimed), 1), 0)
	for _, part := range [][]byte{m.names, make([]byte, 4), files, m.lines} {
		head = le.AppendUint64(head, at)
		at += uint64(len(part))
	}
	head = le.AppendUint64(head, at)
	list, described := []byte{}, []byte{}
	for i := range uint32(n) {
		entry := i * m.size
		if m.backward && i == 1 {
			entry = uint32(n) * m.size
		}
		list = le.AppendUint32(le.AppendUint32(list, entry), uint32(8*n)+4+uint32(len(described)))
		for _, field := range []uint32{entry, m.at[i], 0, 0, 0, 1, 5, 0, 0, 1} {
			described = le.AppendUint32(described, field)
		}
	}
	list = le.AppendUint32(list, uint32(n)*m.size)
	return slices.Concat(head, m.names, make([]byte, 4), files, m.lines, list, described, make([]byte, m.grow))
}

// file is the whole program.
func (m *madeUp) file() []byte {
	const info, strtab = "\xff Go buildinf:\x08\x02" + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00" + "\x06go1.26\x00", "\x00.text\x00.gopclntab\x00.go.buildinfo\x00.shstrtab\x00"
	text := bytes.Repeat(append(slices.Clone(m.code), bytes.Repeat([]byte{0x06}, int(m.size)-len(m.code))...), len(m.at))
	le := binary.LittleEndian
	body := make([]byte, codeAt)
	var headers bytes.Buffer
	_ = binary.Write(&headers, le, elf.Section64{})
	for i, part := range [][]byte{text, m.table(), []byte(info), []byte(strtab)} {
		body = append(body, make([]byte, (16-len(body)%16)%16)...)
		h := elf.Section64{Name: []uint32{1, 7, 18, 32}[i], Type: []uint32{1, 1, 1, 3}[i], Flags: 2, Addr: uint64(len(body)), Off: uint64(len(body)), Size: uint64(len(part)), Addralign: 16}
		if i+1 == m.compressed {
			h.Flags = uint64(elf.SHF_COMPRESSED)
		}
		_ = binary.Write(&headers, le, h)
		body = append(body, part...)
	}
	var head bytes.Buffer
	_ = binary.Write(&head, le, elf.Header64{
		Ident: [16]byte{0x7f, 'E', 'L', 'F', 2, 1, 1}, Type: 2, Machine: uint16(elf.EM_X86_64), Version: 1, Phoff: 64, Shoff: uint64(len(body)),
		Ehsize: 64, Phentsize: 56, Phnum: 2, Shentsize: 64, Shnum: 5, Shstrndx: namesSection,
	})
	for i, size := range []uint64{uint64(len(text)), uint64(len(body) - codeAt)} {
		_ = binary.Write(&head, le, elf.Prog64{Type: 1, Flags: []uint32{5, 6}[i], Off: codeAt, Vaddr: codeAt, Paddr: codeAt, Filesz: size, Memsz: size, Align: 16})
	}
	copy(body, head.Bytes())
	return append(body, headers.Bytes()...)
}

// callTo is a call from the beginning of one function to another.
func (m *madeUp) callTo(from, to int) []byte {
	return binary.LittleEndian.AppendUint32([]byte{0xe8}, uint32((to-from)*int(m.size)-5))
}

// soon fails a test that takes longer than a hostile program may cost.
func soon(t *testing.T, began time.Time) {
	t.Helper()
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestNativeTable(t *testing.T) {
	t.Parallel()
	m := functions("main.touch", "os.ReadFile")
	m.code = m.callTo(0, 1)
	n, err := ReadNative(t.Context(), bytes.NewReader(m.file()))
	if err != nil {
		t.Fatal(err)
	}
	if len(n.functions) != 1 || len(n.functions[0].Sinks) != 1 || n.Unread() != 0 {
		t.Fatalf("%+v", n.functions)
	}
	if table := m.file()[n.TableAt : n.TableAt+n.TableSize]; n.Table != sha256.Sum256(table) || !bytes.Equal(table, m.table()) {
		t.Errorf("the table is not at %d, %d bytes", n.TableAt, n.TableSize)
	}
	f := n.functions[0]
	if f.ID() != "main.go:main.touch" || f.Sinks[0].Kind != sinks.Read || f.Start.Line() != 1 || f.Sinks[0].Start.Line() != 1 || !slices.Equal(n.Probes, []uint64{codeAt, codeAt}) {
		t.Errorf("%+v, probes %d", f, n.Probes)
	}
}

func TestPackageOf(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"main.main": "main", "example.com/a/b.(*T).M": "example.com/a/b", "example.com/a%2eb.F": "example.com/a.b", "go.uber.org/x.F": "go.uber.org/x",
		"main.F[go.shape.struct { example.com/x.T }]": "main", "type:.eq.main.T": "", "go:buildid": "", "memeqbody": "",
	} {
		if got := packageOf(name); got != want {
			t.Errorf("%s is of %q, want %q", name, got, want)
		}
	}
}

// Whatever a program says of itself, reading it ends soon, and what is left out is counted.
func TestNativeIsBounded(t *testing.T) {
	t.Parallel()
	many := func(n int, name string) *madeUp {
		m := functions(name)
		m.at = make([]uint32, n)
		return m
	}
	calling := functions("main.a", "os.ReadFile")
	calling.size = 16 << 10
	for at := range maxProbes + 10 {
		calling.code = binary.LittleEndian.AppendUint32(append(calling.code[:5*at], 0xe8), uint32(16<<10-5*at-5))
	}
	for name, c := range map[string]struct {
		make   func() *madeUp
		err    error // nil for none, errAny for one that is not ErrNoGo
		unread int
	}{
		"lines that never advance": {func() *madeUp {
			m := many(20_000, "main.f")
			m.lines = make([]byte, 32<<20)
			return m
		}, nil, 0},
		"lines that go nowhere": {func() *madeUp {
			m := many(20_000, "main.f")
			m.lines = bytes.Repeat([]byte{1, 0}, 16<<20)
			return m
		}, nil, 0},
		"a claim of many functions": {func() *madeUp {
			m := functions("main.f")
			m.claimed, m.grow = 12_000_000, 48<<20
			return m
		}, errAny, 0},
		"names without an end": {func() *madeUp {
			m := many(50_000, "main.f")
			m.names = bytes.Repeat([]byte("main."), 8<<20)
			for i := range m.at {
				m.at[i] = uint32(5 * i)
			}
			return m
		}, nil, 50_000},
		"a table that is too large": {func() *madeUp {
			m := functions("main.f")
			m.grow = maxGoTable
			return m
		}, errAny, 0},
		"a table that is compressed": {func() *madeUp {
			m := functions("main.f")
			m.compressed = tableSection
			return m
		}, ErrNoGo, 0},
		"names of sections that are compressed": {func() *madeUp {
			m := functions("main.f")
			m.compressed = namesSection
			return m
		}, ErrNoGo, 0},
		"functions out of order": {func() *madeUp {
			m := functions("main.f", "main.g", "main.h")
			m.backward = true
			return m
		}, errAny, 0},
		"a function that is too large": {func() *madeUp {
			m := functions("main.f")
			m.size = maxGoFunction + 1
			return m
		}, nil, 1},
		"too many functions": {func() *madeUp { return many(maxOwn+7, "main.f") }, nil, 7},
		"too much code":      {func() *madeUp { m := many(maxGoCode/maxGoFunction+3, "main.f"); m.size = maxGoFunction; return m }, nil, 3},
		"a long instance": {func() *madeUp {
			return functions("main.f[go.shape.struct { "+strings.Repeat("F;", maxGoName)+" }].func1", "main.g")
		}, nil, 0},
		"an instance too long": {func() *madeUp { return functions("main.f["+strings.Repeat("f", maxGoInstance)+"]", "main.g") }, nil, 1},
		"another's instance":   {func() *madeUp { return functions("a/b.f[main.T/"+strings.Repeat("f", maxGoName)+"]", "main.g") }, nil, 0},
		"a name too long":      {func() *madeUp { return functions("main."+strings.Repeat("f", maxGoName), "main.g") }, nil, 1},
		"too many places":      {func() *madeUp { return calling }, errAny, 0},
	} {
		t.Run(name, func(t *testing.T) {
			file := c.make().file()
			began := time.Now()
			n, err := ReadNative(t.Context(), bytes.NewReader(file))
			soon(t, began)
			if errors.Is(err, ErrNoGo) != errors.Is(c.err, ErrNoGo) || (err == nil) != (c.err == nil) {
				t.Fatalf("%v, want %v", err, c.err)
			}
			if err == nil && n.Unread() != c.unread {
				t.Errorf("%d functions are left out, want %d", n.Unread(), c.unread)
			}
		})
	}
}

// errAny stands for any error but ErrNoGo.
var errAny = errors.New("any")

// ending is a program during whose reading the context ends.
type ending struct {
	io.ReaderAt
	end  func()
	left int
}

func (e *ending) ReadAt(p []byte, off int64) (int, error) {
	if e.left--; e.left == 0 {
		e.end()
	}
	return e.ReaderAt.ReadAt(p, off)
}

func TestNativeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	file := functions("main.f", "main.g", "main.h").file()
	for after := range 8 {
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := ReadNative(ctx, &ending{bytes.NewReader(file), cancel, after + 1}); !errors.Is(err, context.Canceled) {
			t.Errorf("after %d reads: %v", after, err)
		}
		cancel()
	}
}

// changed writes a few words of any value over a part of a file.
func changed(r *rand.Rand, file []byte, from, to int) []byte {
	out := slices.Clone(file)
	for range 1 + r.IntN(6) {
		at := from + r.IntN(to-from-8)
		switch r.IntN(4) {
		case 0:
			out[at] = byte(r.Uint32())
		case 1:
			binary.LittleEndian.PutUint32(out[at:], r.Uint32()>>r.IntN(32))
		case 2:
			binary.LittleEndian.PutUint64(out[at:], r.Uint64()>>r.IntN(64))
		default:
			copy(out[at:to], make([]byte, r.IntN(200)))
		}
	}
	return out
}

// A program of which anything was changed is read soon, or refused.
func TestChangedNative(t *testing.T) {
	t.Parallel()
	small := functions("main.f", "os.ReadFile", "main.g", "example.com/x.F", "os.Remove")
	small.code = small.callTo(0, 1)
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	large, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	whole := self(t)
	for what, c := range map[string]struct {
		file     []byte
		from, to int
		times    int
	}{
		"made up":          {small.file(), 0, len(small.file()), 3000},
		"this test":        {large, int(whole.TableAt), int(whole.TableAt + whole.TableSize), 5},
		"this test's head": {large, int(whole.TableAt), int(whole.TableAt) + 80, 5},
	} {
		for i := range c.times {
			file := changed(rand.New(rand.NewPCG(7, uint64(i))), c.file, c.from, c.to)
			began := time.Now()
			n, err := ReadNative(t.Context(), bytes.NewReader(file))
			if soon(t, began); err == nil {
				_ = n.Compare(&Recording{}, "") // it is read as any other
			}
			if t.Failed() {
				t.Fatalf("%s, change %d", what, i)
			}
		}
	}
}
