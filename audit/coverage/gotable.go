package coverage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
)

// goTable is the table of a Go program's functions, as its linker wrote it (runtime.pcHeader and
// runtime._func, Go 1.16 and later, 64 bits). debug/gosym reads it too, but trusts it: a name may
// there be as long as the table, and a line costs as much as the table has bytes.
type goTable struct {
	names, units, files, lines, funcs []byte
	// n is the number of functions, and word the size of a field in the list of them.
	n, word int
	// text is what the addresses count from.
	text    uint64
	quantum uint64
}

// The first bytes of the tables of Go 1.16, 1.18 and 1.20.
const magic116, magic118, magic120 = 0xfffffffa, 0xfffffff0, 0xfffffff1

// Bounds of a table: of its functions, of a function's name, and of a source's.
const (
	maxGoFunctions = 1_000_000
	maxGoName      = 1 << 10
	maxGoInstance  = 64 << 10 // a name with the types that it is an instance for
	maxGoPath      = 4 << 10
)

var errGoTable = errors.New("read the program: its table of functions contradicts itself")

// parseGoTable reads the head of a table.
func parseGoTable(data []byte, text uint64) (*goTable, error) {
	if len(data) < 8+8*8 || data[4] != 0 || data[5] != 0 || data[6] == 0 || data[7] != 8 {
		return nil, ErrNoGo
	}
	t := &goTable{word: 4, text: text, quantum: uint64(data[6])}
	parts := data[8+3*8:]
	switch binary.LittleEndian.Uint32(data) {
	case magic118, magic120:
	case magic116:
		t.word, t.text, parts = 8, 0, data[8+2*8:]
	default:
		return nil, ErrNoGo
	}
	for i, to := range []*[]byte{&t.names, &t.units, &t.files, &t.lines, &t.funcs} {
		at := binary.LittleEndian.Uint64(parts[8*i:])
		if at > uint64(len(data)) {
			return nil, errGoTable
		}
		*to = data[at:]
	}
	n := binary.LittleEndian.Uint64(data[8:])
	if n > maxGoFunctions || (2*n+1)*uint64(t.word) > uint64(len(t.funcs)) { //nolint:gosec // 4 or 8
		return nil, errGoTable
	}
	t.n = int(n) //nolint:gosec // it is bounded
	return t, nil
}

// listed is a field of the list of functions: the beginning of each and where it is described, and
// at last the end of all.
func (t *goTable) listed(field int) uint64 {
	b := t.funcs[field*t.word:]
	if t.word == 4 {
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// entry is where the i-th function begins, and so where the one before it ends.
func (t *goTable) entry(i int) uint64 { return t.text + t.listed(2*i) }

// field is one of the fields of 32 bits that describe a function, from 1.
func (t *goTable) field(i, n int) (uint32, bool) {
	return u32(t.funcs, t.listed(2*i+1)+uint64(t.word+4*(n-1))) //nolint:gosec // a few bytes
}

func u32(b []byte, at uint64) (uint32, bool) {
	if at > uint64(len(b)) || uint64(len(b))-at < 4 {
		return 0, false
	}
	return binary.LittleEndian.Uint32(b[at:]), true
}

// textAt is what stands before the next zero byte; not all of it where it is longer than a bound.
func textAt(b []byte, at uint32, bound int) (text []byte, whole bool) {
	if uint64(at) >= uint64(len(b)) {
		return nil, false
	}
	b = b[at:]
	b = b[:min(len(b), bound)]
	if end := bytes.IndexByte(b, 0); end >= 0 {
		return b[:end], true
	}
	return b, false
}

// name is a function's name; not all of it where it is too long.
func (t *goTable) name(i int) (name []byte, whole bool) {
	at, ok := t.field(i, 1)
	if !ok {
		return nil, false
	}
	return textAt(t.names, at, maxGoName)
}

// instance is the name of a function without the types that it is an instance for, which may be long.
func (t *goTable) instance(i int) (name string, whole bool) {
	at, ok := t.field(i, 1)
	if !ok {
		return "", false
	}
	long, whole := textAt(t.names, at, maxGoInstance)
	from, to := bytes.IndexByte(long, '['), bytes.LastIndexByte(long, ']')
	if !whole || from < 0 || to < from || len(long)-(to-from) > maxGoName {
		return "", false
	}
	return string(long[:from]) + "[...]" + string(long[to+1:]), true
}

// file is the source in which a function begins, "" where the table does not say.
func (t *goTable) file(i int) string {
	table, ok := t.field(i, 5)
	unit, known := t.field(i, 8)
	number := int32(-1)
	if ok && known {
		t.values(table, 0, 1, func(_ uint64, v int32) bool { number = v; return false })
	}
	if number < 0 {
		return ""
	}
	at, ok := u32(t.units, 4*(uint64(unit)+uint64(number)))
	if !ok || at == ^uint32(0) {
		return ""
	}
	name, _ := textAt(t.files, at, maxGoPath)
	return string(name)
}

// linesOf are the lines of addresses in the i-th function, which ascend; 0 where none is known.
func (t *goTable) linesOf(i int, addresses []uint64) []int {
	out := make([]int, len(addresses))
	table, ok := t.field(i, 6)
	if !ok {
		return out
	}
	k := 0
	t.values(table, t.entry(i), t.entry(i+1), func(until uint64, line int32) bool {
		for ; k < len(addresses) && addresses[k] < until; k++ {
			out[k] = int(max(line, 0))
		}
		return k < len(addresses)
	})
	return out
}

// values reads what holds of a function's code from one address to another, up to each change. An
// honest table has no more changes than the code has bytes.
func (t *goTable) values(table uint32, from, to uint64, each func(until uint64, value int32) bool) {
	if uint64(table) >= uint64(len(t.lines)) {
		return
	}
	p, pc, value := t.lines[table:], from, int32(-1)
	for left := to - from + 1; left > 0 && pc < to; left-- {
		change, n := binary.Uvarint(p)
		if n <= 0 || change == 0 && pc != from {
			return
		}
		p = p[n:]
		length, n := binary.Uvarint(p)
		if n <= 0 {
			return
		}
		p = p[n:]
		value += int32(uint32(change)>>1) ^ -int32(change&1) //nolint:gosec // bits
		pc += uint64(uint32(length)) * t.quantum             //nolint:gosec // bits
		if !each(pc, value) {
			return
		}
	}
}

// find is the function that begins at an address.
func (t *goTable) find(address uint64) (int, bool) {
	low, high := 0, t.n
	for low < high {
		if middle := (low + high) / 2; t.entry(middle) < address {
			low = middle + 1
		} else {
			high = middle
		}
	}
	return low, low < t.n && t.entry(low) == address
}

// packageOf is the import path in a function's name, "" for what the linker made.
func packageOf(name string) string {
	if strings.HasPrefix(name, "go:") || strings.HasPrefix(name, "type:") {
		return ""
	}
	if from, to := strings.IndexByte(name, '['), strings.LastIndexByte(name, ']'); from >= 0 && to > from {
		name = name[:from] + name[to+1:] // what it is an instance for has slashes and dots of its own
	}
	base := max(strings.LastIndexByte(name, '/'), 0)
	if dot := strings.IndexByte(name[base:], '.'); dot >= 0 {
		return strings.ReplaceAll(name[:base+dot], "%2e", ".")
	}
	return ""
}
