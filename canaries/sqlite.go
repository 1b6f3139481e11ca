package canaries

import (
	"encoding/binary"
	"errors"
)

// sqlitePage is the size of a page, as Chromium sets it.
const sqlitePage = 4096

// SQLiteTable is a table or an index of a database, all of it on one page.
type SQLiteTable struct {
	// Kind is "table" or "index".
	Kind, Name, Table, SQL string
	Rows                   [][]any // int64, string, []byte or nil
	IDs                    []int64 // the row ids; nil for an index, whose rows hold them last
}

var errPageFull = errors.New("canaries: a table is longer than a page")

// SQLiteFile writes a database in the format of SQLite 3: a page for the
// schema, and one for each table and index. The version is that of the library that wrote it.
func SQLiteFile(version uint32, tables []SQLiteTable) ([]byte, error) {
	schema := SQLiteTable{Kind: "table"}
	for i, t := range tables {
		var sql any
		if t.SQL != "" {
			sql = t.SQL
		}
		schema.Rows = append(schema.Rows, []any{t.Kind, t.Name, t.Table, int64(i + 2), sql})
		schema.IDs = append(schema.IDs, int64(i+1))
	}
	const header = 100
	out := make([]byte, sqlitePage*(len(tables)+1))
	if err := schema.page(out[:sqlitePage], header); err != nil {
		return nil, err
	}
	copy(out, sqliteHeader(version, len(tables)+1))
	for i, t := range tables {
		if err := t.page(out[sqlitePage*(i+1):sqlitePage*(i+2)], 0); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// sqliteHeader is the first hundred bytes of a database.
func sqliteHeader(version uint32, pages int) []byte {
	h := make([]byte, 100)
	copy(h, "SQLite format 3\x00")
	binary.BigEndian.PutUint16(h[16:], sqlitePage)
	copy(h[18:], []byte{1, 1, 0, 64, 32, 32})
	for at, v := range map[int]uint32{24: 9, 28: uint32(pages), 40: 4, 44: 4, 56: 1, 92: 9, 96: version} {
		binary.BigEndian.PutUint32(h[at:], v)
	}
	return h
}

// page writes the rows as a leaf of a b-tree, whose header stands at from.
func (t SQLiteTable) page(page []byte, from int) error {
	const leafTable, leafIndex = 13, 10
	slot, end := from+8, len(page)
	for i, row := range t.Rows {
		record := sqliteRecord(row)
		cell := sqliteVarint(nil, uint64(len(record)))
		if t.IDs != nil {
			cell = sqliteVarint(cell, uint64(t.IDs[i]))
		}
		cell = append(cell, record...)
		if end -= len(cell); end < slot+2 {
			return errPageFull
		}
		copy(page[end:], cell)
		binary.BigEndian.PutUint16(page[slot:], uint16(end))
		slot += 2
	}
	page[from] = leafIndex
	if t.Kind == "table" {
		page[from] = leafTable
	}
	binary.BigEndian.PutUint16(page[from+3:], uint16(len(t.Rows)))
	binary.BigEndian.PutUint16(page[from+5:], uint16(end))
	return nil
}

// sqliteRecord is a row: the types of its columns, then their values.
func sqliteRecord(row []any) []byte {
	var types, body []byte
	for _, v := range row {
		switch v := v.(type) {
		case nil:
			types = append(types, 0)
		case int64:
			types, body = sqliteInt(types, body, v)
		case string:
			types, body = sqliteVarint(types, uint64(13+2*len(v))), append(body, v...)
		case []byte:
			types, body = sqliteVarint(types, uint64(12+2*len(v))), append(body, v...)
		}
	}
	size := len(types) + 1
	if size > 127 {
		size++
	}
	return join(sqliteVarint(nil, uint64(size)), types, body)
}

// sqliteInt appends a number in the shortest of the forms it may have.
func sqliteInt(types, body []byte, v int64) (newTypes, newBody []byte) {
	switch {
	case v == 0 || v == 1:
		return append(types, byte(8+v)), body
	case v == int64(int8(v)):
		return append(types, 1), append(body, byte(v))
	case v == int64(int16(v)):
		return append(types, 2), binary.BigEndian.AppendUint16(body, uint16(v))
	case v == int64(int32(v)):
		return append(types, 4), binary.BigEndian.AppendUint32(body, uint32(v))
	}
	return append(types, 6), binary.BigEndian.AppendUint64(body, uint64(v))
}

// sqliteVarint appends a number of at most 56 bits, seven in each byte.
func sqliteVarint(b []byte, v uint64) []byte {
	var digits []byte
	for more := byte(0); ; more = 0x80 {
		digits = append(digits, byte(v&0x7f)|more)
		if v >>= 7; v == 0 {
			break
		}
	}
	for i := len(digits) - 1; i >= 0; i-- {
		b = append(b, digits[i])
	}
	return b
}
