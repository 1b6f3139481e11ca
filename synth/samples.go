package synth

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"strconv"
	"strings"
	"time"
)

// sample is a small document of a type that tools read, in the least form that its format allows.
type sample struct {
	name string
	data []byte
}

// samples are one document of each type beside texts, pictures, the report and the table,
// about what the workspace is about.
func (w *work) samples() []sample {
	if w.made == nil {
		w.made = w.makeSamples()
	}
	return w.made
}

func (w *work) makeSamples() []sample {
	title, item, count := w.title, w.items[0], strconv.Itoa(w.counts[0])
	texts := []struct{ name, text string }{
		{"docs/analysis.ipynb", `{"cells":[{"cell_type":"markdown","metadata":{},"source":["# ` + title + `\n"]},{"cell_type":"code","execution_count":null,"metadata":{},"outputs":[],"source":["print(` + count + `)"]}],` +
			`"metadata":{"kernelspec":{"display_name":"Python 3","language":"python","name":"python3"},"language_info":{"name":"python"}},"nbformat":4,"nbformat_minor":4}` + "\n"},
		{"docs/plan.drawio", `<mxfile><diagram id="d1" name="Page-1"><mxGraphModel><root><mxCell id="0"/><mxCell id="1" parent="0"/><mxCell id="2" value="` + item + `" style="rounded=0" vertex="1" parent="1">` +
			`<mxGeometry x="40" y="40" width="120" height="60" as="geometry"/></mxCell></root></mxGraphModel></diagram></mxfile>` + "\n"},
		{"images/plan.svg", `<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><rect x="2" y="2" width="16" height="16" fill="` + hexColour(w.colour) + `"/></svg>` + "\n"},
		{"data/service.yaml", "name: " + item + "\nreplicas: " + count + "\nports:\n  - 8080\n"},
		{"data/pyproject.toml", "[project]\nname = \"" + item + "\"\nversion = \"0." + count + ".0\"\n"},
		{"data/sizes.tsv", "item\tcount\n" + item + "\t" + count + "\n"},
		{"data/places.geojson", `{"type":"FeatureCollection","features":[{"type":"Feature","properties":{"name":"` + item + `"},"geometry":{"type":"Point","coordinates":[-0.12,51.5]}}]}` + "\n"},
		{"data/feed.xml", `<?xml version="1.0" encoding="UTF-8"?>` + "\n<items><item count=\"" + count + "\">" + item + "</item></items>\n"},
		{"docs/meeting.ics", strings.ReplaceAll("BEGIN:VCALENDAR\nVERSION:2.0\nPRODID:-//example//EN\nBEGIN:VEVENT\nUID:1@example.com\nDTSTAMP:20260112T080000Z\nDTSTART:20260314T093000Z\nSUMMARY:"+title+"\nEND:VEVENT\nEND:VCALENDAR\n", "\n", "\r\n")},
		{"tools/go.mod", "module example.com/" + item + "\n\ngo 1.22\n"},
		{"tools/main.go", "package main\n\nfunc main() {\n\tprintln(\"" + item + "\", " + count + ")\n}\n"},
		{"site/package.json", "{\n  \"name\": \"" + item + "\",\n  \"version\": \"0.1.0\",\n  \"private\": true,\n  \"main\": \"index.js\"\n}\n"},
		{"site/index.js", "module.exports = function " + item + "Count(list) {\n  return list.length + " + count + ";\n};\n"},
		{"site/types.ts", "export const " + item + " = { name: \"" + item + "\", count: " + count + " };\n"},
	}
	var out []sample
	for _, t := range texts {
		out = append(out, sample{t.name, []byte(t.text)})
	}
	out = append(out, sample{"images/scan.jpg", picture(w.colour)}, sample{"data/tone.wav", tone(200 + 10*w.counts[0] + len(item))})
	kept := []zipPart{{"notes.txt", title + "\n"}, {"items/" + item + ".txt", count + "\n"}}
	for _, z := range []struct {
		name  string
		parts []zipPart
	}{
		{"docs/letter.docx", letter(title, "The "+item+" arrives in "+count+" days.")},
		{"data/backup.zip", kept},
		{"docs/talk.pptx", slides(title + ": " + item + ", " + count)},
	} {
		if data, err := zipped(z.parts); err == nil { // writing to memory does not fail
			out = append(out, sample{z.name, data})
		}
	}
	if data, err := tarred(kept, w.at); err == nil {
		out = append(out, sample{"data/backup.tar.gz", data})
	}
	if data, err := w.database(); err == nil { // a few rows fit into a page
		out = append(out, sample{"data/stock.db", data})
	}
	return append(out, sample{"data/sizes.parquet", parquet(w.items, w.counts)})
}

func hexColour(c [3]byte) string {
	const digits = "0123456789abcdef"
	b := []byte{'#'}
	for _, v := range c {
		b = append(b, digits[v>>4], digits[v&15])
	}
	return string(b)
}

type zipPart struct{ name, text string }

func zipped(parts []zipPart) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, p := range parts {
		w, err := z.Create(p.name)
		if err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(p.text)); err != nil {
			return nil, err
		}
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// tarball are files in an archive of tar.
func tarball(parts []zipPart, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, p := range parts {
		if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: p.name, Mode: 0o644, Size: int64(len(p.text)), ModTime: at, Format: tar.FormatUSTAR}); err != nil {
			return nil, err
		}
		if _, err := w.Write([]byte(p.text)); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// tarred are files in a compressed archive of tar.
func tarred(parts []zipPart, at time.Time) ([]byte, error) {
	data, err := tarball(parts, at)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, err = z.Write(data)
	if err := errors.Join(err, z.Close()); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// letter is a document of two paragraphs (ECMA-376 part 1, 11.3.10).
func letter(title, body string) []zipPart {
	const (
		head  = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>` + "\n"
		main  = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"
		rel   = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
		packs = "http://schemas.openxmlformats.org/package/2006/"
		kind  = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
	)
	paragraph := func(text string) string { return `<w:p><w:r><w:t>` + text + `</w:t></w:r></w:p>` }
	return []zipPart{
		{"[Content_Types].xml", head + `<Types xmlns="` + packs + `content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>` +
			`<Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="` + kind + `"/></Types>`},
		{"_rels/.rels", head + `<Relationships xmlns="` + packs + `relationships"><Relationship Id="rId1" Type="` + rel + `/officeDocument" Target="word/document.xml"/></Relationships>`},
		{"word/document.xml", head + `<w:document xmlns:w="` + main + `"><w:body>` + paragraph(title) + paragraph(body) + `<w:sectPr/></w:body></w:document>`},
	}
}

// picture is a JPEG of sixteen by sixteen pixels of one colour.
func picture(colour [3]byte) []byte {
	const side = 16
	m := image.NewRGBA(image.Rect(0, 0, side, side))
	for i := range side * side {
		m.Set(i%side, i/side, color.RGBA{colour[0], colour[1], colour[2], 0xff})
	}
	var b bytes.Buffer
	_ = jpeg.Encode(&b, m, nil) // writing to memory does not fail
	return b.Bytes()
}

// tone is a tenth of a second of a sound of some hertz: PCM of 8 bits at 8 kHz, in a RIFF file.
func tone(pitch int) []byte {
	const rate, samples = 8000, 800
	b := []byte("RIFF")
	u32 := func(v uint32) { b = binary.LittleEndian.AppendUint32(b, v) }
	u16 := func(v uint16) { b = binary.LittleEndian.AppendUint16(b, v) }
	u32(36 + samples)
	b = append(b, "WAVEfmt "...)
	u32(16)
	u16(1) // PCM
	u16(1) // channels
	u32(rate)
	u32(rate) // bytes a second
	u16(1)    // bytes a sample
	u16(8)    // bits a sample
	b = append(b, "data"...)
	u32(samples)
	for i := range samples {
		b = append(b, byte(128+100*math.Sin(2*math.Pi*float64(pitch)*float64(i)/rate)))
	}
	return b
}
