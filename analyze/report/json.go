package report

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/analyze"
)

// Schema is the JSON Schema (draft 2020-12) of report.json.
//
//go:embed report.schema.json
var Schema []byte

// JSON writes report.json.
func JSON(w io.Writer, res *analyze.Result) error {
	return encode(w, res)
}

// Encode writes any value as JSON in which no character acts on whatever shows it.
func Encode(w io.Writer, v any) error { return encode(w, v) }

// EncodeLine is Encode without line ends within: a record of a stream of JSON values.
func EncodeLine(w io.Writer, v any) error {
	raw, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = w.Write(append(armless(escapeUnseen(raw)), '\n'))
	return err
}

// encode writes v as JSON in which no character acts on whatever shows it: what
// is not seen, or turns text around, is written as an escape.
func encode(w io.Writer, v any) error {
	raw, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write(append(armless(escapeUnseen(raw)), '\n'))
	return err
}

// armless writes as an escape what makes a runner read a command within a line:
// in encoded JSON it can stand in a string only.
func armless(raw []byte) []byte {
	if !bytes.Contains(raw, []byte("##")) {
		return raw
	}
	raw = bytes.ReplaceAll(raw, []byte("##["), []byte(`##\u005b`))
	return bytes.ReplaceAll(raw, []byte("##vso["), []byte(`##vso\u005b`))
}

// escapeUnseen works on encoded JSON, where only a string can hold what is not ASCII.
func escapeUnseen(raw []byte) []byte {
	odd := func(r rune) bool { return r >= utf8.RuneSelf || r == 0x7f }
	from := bytes.IndexFunc(raw, odd)
	if from < 0 {
		return raw
	}
	out := append(make([]byte, 0, len(raw)+len(raw)/8), raw[:from]...)
	raw = raw[from:]
	for len(raw) > 0 {
		r, n := utf8.DecodeRune(raw)
		switch {
		case r != 0x7f && r < utf8.RuneSelf || unicode.IsGraphic(r) && !unicode.Is(unicode.Zs, r):
			out = append(out, raw[:n]...)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, "\\u%04x\\u%04x", high, low)
		default:
			out = fmt.Appendf(out, "\\u%04x", r)
		}
		raw = raw[n:]
	}
	return out
}
