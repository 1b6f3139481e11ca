package synth

import (
	"encoding/binary"
	"slices"
	"unicode/utf16"
)

// font is a TrueType font of one box, for the letter A (OpenType specification 1.9, chapter 5).
func font(family string) []byte {
	be := func(values ...any) (b []byte) {
		for _, v := range values {
			b, _ = binary.Append(b, binary.BigEndian, v) // numbers of a fixed size are always written
		}
		return b
	}
	const units, width, glyphs = 1000, 600, 2
	// A contour of four points on the curve, with the flags and the coordinates in words.
	box := be(int16(1), int16(50), int16(0), int16(550), int16(700), uint16(3), uint16(0), [4]uint8{1, 1, 1, 1},
		[4]int16{50, 500, 0, -500}, [4]int16{0, 0, 700, 0})
	tables := map[string][]byte{
		"head": be(uint32(0x00010000), uint32(0x00010000), uint32(0), uint32(0x5F0F3CF5), uint16(3), uint16(units), int64(3_850_000_000), int64(3_850_000_000),
			int16(50), int16(0), int16(550), int16(700), uint16(0), uint16(8), int16(2), int16(1), int16(0)),
		"hhea": be(uint32(0x00010000), int16(800), int16(-200), int16(0), uint16(width), int16(50), int16(50), int16(550), int16(1), int16(0), int16(0), [4]int16{}, int16(0), uint16(glyphs)),
		"maxp": be(uint32(0x00010000), uint16(glyphs), uint16(4), uint16(1), [11]uint16{2: 2}),
		"hmtx": be(uint16(width), int16(50), uint16(width), int16(50)),
		"cmap": be(uint16(0), uint16(1), uint16(3), uint16(1), uint32(12),
			uint16(4), uint16(32), uint16(0), uint16(4), uint16(4), uint16(1), uint16(0), [2]uint16{'A', 0xffff}, uint16(0), [2]uint16{'A', 0xffff}, [2]int16{1 - 'A', 1}, [2]uint16{}),
		"loca": be(uint32(0), uint32(0), uint32(len(box))),
		"glyf": box,
		"name": names(be, family, "Regular", family+" Regular"),
		"post": be(uint32(0x00030000), uint32(0), int16(-100), int16(50), [5]uint32{}),
		"OS/2": be(uint16(4), int16(width), uint16(400), uint16(5), uint16(0), [10]int16{}, int16(0), [10]uint8{}, [4]uint32{}, [4]uint8{'N', 'O', 'N', 'E'}, uint16(0x40), uint16('A'), uint16('A'),
			int16(800), int16(-200), int16(0), uint16(800), uint16(200), [2]uint32{}, int16(500), int16(700), uint16(0), uint16(32), uint16(1)),
	}
	return sfnt(be, tables)
}

// names is the table of a font's names: family, style and both, for Windows in English.
func names(be func(...any) []byte, family, style, full string) []byte {
	ids, texts := []uint16{1, 2, 4}, []string{family, style, full}
	records, text := be(uint16(0), uint16(len(ids)), uint16(6+12*len(ids))), []byte(nil)
	for i, id := range ids {
		encoded := be(utf16.Encode([]rune(texts[i])))
		records = append(records, be(uint16(3), uint16(1), uint16(0x0409), id, uint16(len(encoded)), uint16(len(text)))...)
		text = append(text, encoded...)
	}
	return append(records, text...)
}

// sfnt is a font file of some tables, with their directory and sums.
func sfnt(be func(...any) []byte, tables map[string][]byte) []byte {
	tags := make([]string, 0, len(tables))
	for tag := range tables {
		tags = append(tags, tag)
	}
	slices.Sort(tags)
	sum := func(b []byte) (s uint32) {
		for i := 0; i < len(b); i += 4 {
			var word [4]byte
			copy(word[:], b[i:])
			s += binary.BigEndian.Uint32(word[:])
		}
		return s
	}
	power, log := 1, 0
	for power*2 <= len(tags) {
		power, log = power*2, log+1
	}
	out := be(uint32(0x00010000), uint16(len(tags)), uint16(power*16), uint16(log), uint16(len(tags)*16-power*16))
	at, head := len(out)+16*len(tags), 0
	var data []byte
	for _, tag := range tags {
		t := tables[tag]
		if tag == "head" {
			head = at + len(data)
		}
		out = append(append(out, tag...), be(sum(t), uint32(at+len(data)), uint32(len(t)))...)
		data = append(data, t...)
		data = append(data, make([]byte, (4-len(t)%4)%4)...)
	}
	out = append(out, data...)
	binary.BigEndian.PutUint32(out[head+8:], 0xB1B0AFBA-sum(out))
	return out
}
