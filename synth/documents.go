package synth

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/coalmine-dev/coalmine/synth/schema"
)

// workbook is a spreadsheet of one sheet with a heading and a row for each item, in the
// least form that ECMA-376 part 1 allows.
func workbook(items []string, counts []int) ([]byte, error) {
	const (
		head  = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
		main  = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
		rel   = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
		packs = "http://schemas.openxmlformats.org/package/2006/"
		kind  = "application/vnd.openxmlformats-officedocument.spreadsheetml."
	)
	row := func(n, item, count string) string {
		return `<row r="` + n + `"><c r="A` + n + `" t="inlineStr"><is><t>` + item + `</t></is></c><c r="B` + n + `" t="inlineStr"><is><t>` + count + `</t></is></c></row>`
	}
	rows := ""
	for i, item := range items {
		rows += row(strconv.Itoa(i+2), item, strconv.Itoa(counts[i]))
	}
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, part := range []struct{ name, text string }{
		{"[Content_Types].xml", `<Types xmlns="` + packs + `content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Default Extension="xml" ContentType="application/xml"/><Override PartName="/xl/workbook.xml" ContentType="` + kind + `sheet.main+xml"/>` +
			`<Override PartName="/xl/worksheets/sheet1.xml" ContentType="` + kind + `worksheet+xml"/></Types>`},
		{"_rels/.rels", `<Relationships xmlns="` + packs + `relationships"><Relationship Id="rId1" Type="` + rel + `/officeDocument" Target="xl/workbook.xml"/></Relationships>`},
		{"xl/workbook.xml", `<workbook xmlns="` + main + `" xmlns:r="` + rel + `"><sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`},
		{"xl/_rels/workbook.xml.rels", `<Relationships xmlns="` + packs + `relationships"><Relationship Id="rId1" Type="` + rel + `/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`},
		{"xl/worksheets/sheet1.xml", `<worksheet xmlns="` + main + `"><dimension ref="A1:B` + strconv.Itoa(len(items)+1) + `"/><sheetData>` + row("1", "item", "count") + rows + `</sheetData></worksheet>`},
	} {
		w, err := z.Create(part.name)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(head + part.text)); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

var extensionText = regexp.MustCompile(`\.[a-z][a-z0-9]{1,4}\b`)

// ofExtension corrects a path of which a refusal says what it should end in: a
// file of that kind which is there, or the same place under such a name.
func (l *learner) ofExtension(args json.RawMessage, text string) json.RawMessage {
	var given map[string]json.RawMessage
	if json.Unmarshal(args, &given) != nil || len(text) > 4096 {
		return nil
	}
	h := &l.d.cfg.Hints
	there := slices.Concat(h.Documents, h.Files, h.Images)
	corrected := false
	for name, old := range given {
		var value string
		if json.Unmarshal(old, &value) == nil && schema.NamesType(name, path.Ext(value)) {
			continue // the refusal speaks of another argument with the same value
		}
		if json.Unmarshal(old, &value) != nil || !strings.HasPrefix(value, "/") || !strings.Contains(text, value) || !l.d.planted(value) {
			continue
		}
		wanted := extensionText.FindAllString(strings.ReplaceAll(text, value, ""), 16)
		if len(wanted) == 0 || slices.Contains(wanted, path.Ext(value)) {
			continue
		}
		is := func(f string) bool { return slices.Contains(wanted, path.Ext(f)) }
		if i := slices.IndexFunc(there, is); i >= 0 && slices.Contains(there, value) {
			value = there[i]
		} else if i >= 0 {
			value = strings.TrimSuffix(value, path.Ext(value)) + path.Ext(there[i])
		} else {
			value = strings.TrimSuffix(value, path.Ext(value)) + wanted[0]
		}
		given[name], corrected = likeOld(old, value), true
	}
	return arguments(given, corrected)
}

// arguments writes corrected arguments, nil where nothing was corrected.
func arguments(given map[string]json.RawMessage, corrected bool) json.RawMessage {
	if !corrected {
		return nil
	}
	out, err := json.Marshal(given)
	if err != nil {
		return nil
	}
	return out
}
