package synth

import "encoding/binary"

// thrift writes structures in the compact protocol of Apache Thrift, in which the headers of a file of
// Parquet are: each field has a number, which is written as the distance from the one before.
type thrift struct {
	b    []byte
	last []int // the number of the latest field of each structure under way
}

// The types of fields.
const (
	thriftI32, thriftI64, thriftBinary, thriftList, thriftStruct = 5, 6, 8, 9, 12
)

func (t *thrift) field(n int, kind byte) {
	top := len(t.last) - 1
	t.b = append(t.b, byte(n-t.last[top])<<4|kind)
	t.last[top] = n
}

func (t *thrift) number(v int) { t.b = binary.AppendVarint(t.b, int64(v)) }

func (t *thrift) text(s string) { t.b = append(binary.AppendUvarint(t.b, uint64(len(s))), s...) }

func (t *thrift) i32(n, v int)           { t.field(n, thriftI32); t.number(v) }
func (t *thrift) i64(n, v int)           { t.field(n, thriftI64); t.number(v) }
func (t *thrift) binary(n int, s string) { t.field(n, thriftBinary); t.text(s) }

// list begins a list of fewer than fifteen elements.
func (t *thrift) list(n, size int, kind byte) {
	t.field(n, thriftList)
	t.b = append(t.b, byte(size)<<4|kind)
}

// open and end are around a structure that is an element of a list, or the whole.
func (t *thrift) open() { t.last = append(t.last, 0) }

func (t *thrift) end() {
	t.b = append(t.b, 0)
	t.last = t.last[:len(t.last)-1]
}

// within writes a structure that is a field.
func (t *thrift) within(n int, write func()) {
	t.field(n, thriftStruct)
	t.open()
	write()
	t.end()
}

// parquetColumn is a column whose values stand one behind the other.
type parquetColumn struct {
	name       string
	kind, text int // the type, and 1 for a text
	data       []byte
	at, size   int // of its page within the file, with the page's header
}

// The types of columns, and how values and levels are written.
const (
	parquetInt64, parquetBytes = 2, 6
	parquetPlain, parquetRLE   = 0, 3
)

// parquet is a table in a file of Apache Parquet: one group of rows, one page for each column, nothing compressed.
func parquet(items []string, counts []int) []byte {
	columns := []*parquetColumn{{name: "item", kind: parquetBytes, text: 1}, {name: "count", kind: parquetInt64}}
	for i, item := range items {
		columns[0].data = append(binary.LittleEndian.AppendUint32(columns[0].data, uint32(len(item))), item...)
		columns[1].data = binary.LittleEndian.AppendUint64(columns[1].data, uint64(counts[i]))
	}
	const magic = "PAR1"
	out := []byte(magic)
	for _, c := range columns {
		var t thrift
		t.open()
		t.i32(1, 0) // a page of data
		t.i32(2, len(c.data))
		t.i32(3, len(c.data))
		t.within(5, func() {
			t.i32(1, len(items))
			t.i32(2, parquetPlain)
			t.i32(3, parquetRLE)
			t.i32(4, parquetRLE)
		})
		t.end()
		c.at, c.size = len(out), len(t.b)+len(c.data)
		out = append(append(out, t.b...), c.data...)
	}
	footer := parquetFooter(columns, len(items))
	out = append(out, footer...)
	return append(binary.LittleEndian.AppendUint32(out, uint32(len(footer))), magic...)
}

// parquetFooter says what the columns are, and where.
func parquetFooter(columns []*parquetColumn, rows int) []byte {
	var t thrift
	t.open()
	t.i32(1, 1) // the version of the format
	t.list(2, len(columns)+1, thriftStruct)
	t.open()
	t.binary(4, "schema")
	t.i32(5, len(columns))
	t.end()
	all := 0
	for _, c := range columns {
		all += c.size
		t.open()
		t.i32(1, c.kind)
		t.i32(3, 0) // required
		t.binary(4, c.name)
		if c.text == 1 {
			t.i32(6, 0) // of UTF-8
		}
		t.end()
	}
	t.i64(3, rows)
	t.list(4, 1, thriftStruct)
	t.open()
	t.list(1, len(columns), thriftStruct)
	for _, c := range columns {
		t.open()
		t.i64(2, 0)
		t.within(3, func() {
			t.i32(1, c.kind)
			t.list(2, 1, thriftI32)
			t.number(parquetPlain)
			t.list(3, 1, thriftBinary)
			t.text(c.name)
			t.i32(4, 0) // not compressed
			t.i64(5, rows)
			t.i64(6, c.size)
			t.i64(7, c.size)
			t.i64(9, c.at)
		})
		t.end()
	}
	t.i64(2, all)
	t.i64(3, rows)
	t.end()
	t.binary(6, "parquet-cpp-arrow version 15.0.0")
	t.end()
	return t.b
}
