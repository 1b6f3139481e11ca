package synth

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"iter"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/synth/schema"
)

// documentWords are words by which people speak of a type of text documents, by its ending without the dot.
var documentWords = map[string][]string{
	"bib": {"bibtex", "bibliography", "citations"}, "vcf": {"vcard", "vcards", "contacts"}, "ics": {"ical", "icalendar", "calendar", "vevent"}, "srt": {"subrip", "subtitles"}, "vtt": {"webvtt"}, "eml": {"rfc822", "mime", "email"},
	"ini": {"ini"}, "toml": {"toml"}, "properties": {"properties"}, "jsonl": {"ndjson", "jsonlines"}, "log": {"logs"}, "sql": {"ddl"}, "proto": {"protobuf"}, "graphql": {"sdl"}, "po": {"gettext"},
	"dot": {"graphviz", "digraph"}, "puml": {"plantuml"}, "mmd": {"mermaid"}, "m3u": {"playlist", "m3u8"}, "tex": {"latex"}, "csv": {"table"}, "html": {"webpage"}, "md": {"markdown"}, "rst": {"restructuredtext"},
	"adoc": {"asciidoc"}, "ipynb": {"notebook", "jupyter"}, "drawio": {"diagram"}, "opml": {"feeds"}, "rss": {"feed"}, "har": {"har"}, "diff": {"patch", "unified"}, "ofx": {"statement"}, "ledger": {"journal"}, "abc": {"tune"}, "gpx": {"track"},
	"yaml": {"yml", "manifest"}, "xml": {"xml"}, "lcov": {"coverage"}, "geojson": {"geometry"}, "svg": {"svg"}, "mod": {"gomod"},
	"rs": {"rust"}, "rb": {"ruby"}, "kt": {"kotlin"}, "cs": {"csharp"}, "sol": {"solidity"}, "pl": {"perl"}, "hs": {"haskell"}, "ex": {"elixir"}, "jl": {"julia"}, "ps1": {"powershell"}, "sh": {"bash", "shell"}, "tsx": {"react"},
	"gd": {"gdscript", "godot"}, "map": {"sourcemap"}, "v": {"verilog"}, "crt": {"certificate", "x509", "pem"},
	"xlsx": {"excel", "workbook", "spreadsheet", "xlsm"}, "docx": {"word"}, "pptx": {"powerpoint", "presentation", "slides"}, "jpg": {"jpeg", "photo", "image"}, "png": {"image", "picture", "screenshot"}, "wav": {"audio", "recording"},
	"zip": {"archive"}, "db": {"sqlite", "database"},
}

// maxTextTried bounds how many documents are tried for one argument.
const maxTextTried = 4

// documentTexts are a text of each type of documents, by its ending without the dot: for a tool that takes the text itself.
func (w *work) documentTexts() map[string]string {
	out := map[string]string{}
	add := func(name string, data []byte) {
		if ext := strings.TrimPrefix(path.Ext(name), "."); ext != "" && out[ext] == "" && utf8.Valid(data) && !bytes.ContainsRune(data, 0) && len(data) <= maxSaidText {
			out[ext] = string(data)
		}
	}
	for _, t := range w.texts {
		add(t.name, []byte(t.data))
	}
	for _, s := range w.samples() {
		add(s.name, s.data)
	}
	for _, f := range slices.Concat(w.textFormats(), w.dataFormats(), w.codeFormats(), w.binaryFormats(isText)) {
		add(f.name, []byte(f.text))
	}
	return out
}

// encodedDocuments are a document in base64 of each type that is no text, by its ending without the dot: for a tool that
// takes the content itself.
func (w *work) encodedDocuments() map[string]string {
	out := map[string]string{}
	for _, s := range w.all(isOffice) {
		if ext := strings.TrimPrefix(path.Ext(s.name), "."); ext != "" && out[ext] == "" && (!utf8.Valid(s.data) || s.name == pdfName) && len(s.data) <= maxSaidText {
			out[ext] = base64.StdEncoding.EncodeToString(s.data)
		}
	}
	return out
}

// isOffice reports whether a type of binaryFormats is one that tools take as base64.
func isOffice(ending string) bool {
	return slices.Contains([]string{".gif", ".bmp", ".odt", ".ods", ".odp", ".tar", ".tgz"}, ending)
}

// maxSaidText is the most bytes of a document that is given as a text.
const maxSaidText = 8 << 10

// isText reports whether a type of binaryFormats is a text all the same.
func isText(ending string) bool { return slices.Contains([]string{".crt", ".cer", ".torrent"}, ending) }

// asText gives a refused text the content of a document of the type that the argument's name, the refusal, the
// argument's description or the tool's own words name, in this order. nil is for nothing left to try.
func (d *driver) asText(t *target, args json.RawMessage, refusal string) json.RawMessage {
	said := func(name string) []string {
		return []string{name, refusal, describedAs(t, name), t.name + " " + t.decl.Description}
	}
	for next := range d.withDocuments(t, args, said) {
		return next
	}
	return nil
}

// withDocuments are arguments with one text in turn replaced by a document, of each type that what said returns for the
// text's name speaks of, as far as a tool was not given them.
func (d *driver) withDocuments(t *target, args json.RawMessage, said func(name string) []string) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		var given map[string]json.RawMessage
		if t.what != WhatTool || len(d.cfg.Hints.Texts)+len(d.cfg.Hints.Encoded) == 0 || json.Unmarshal(args, &given) != nil {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(given)) {
			old := given[name]
			value, ok := textOf(old)
			if !ok || namesPlace(name) || strings.HasPrefix(value, "/") {
				continue
			}
			documents := d.cfg.Hints.Texts
			if takesBase64(name, describedAs(t, name)) {
				documents = d.cfg.Hints.Encoded
			}
			for _, ext := range typesNamed(documents, said(name)) {
				given[name] = likeOld(old, documents[ext])
				if next := arguments(given, true); !t.wasGiven(next) && !yield(next) {
					return
				}
			}
			given[name] = old
		}
	}
}

// documents calls the tools that answer once more for each text whose own name or description names a type of
// documents, with one of that type: a tool that takes any text does with a document what it is for.
func (d *driver) documents() {
	for _, t := range order(d.tools) {
		if t.cover.OK == 0 || t.gone || t.slow || t.cover.Timeouts > 0 {
			continue
		}
		said := func(name string) []string { return []string{name, describedAs(t, name)} }
		n := 0
		for args := range d.withDocuments(t, t.base, said) {
			if n++; n > maxTextTried {
				break
			}
			if !d.more() {
				return
			}
			d.carryOut(t, Call{What: WhatTool, Tool: t.name, Args: args, Class: schema.Learned.String()}, 1)
		}
	}
}

// takesBase64 reports whether an argument takes content in base64 (RFC 4648), by its name or its description.
func takesBase64(name, description string) bool {
	words := plainWords(name + " " + description)
	return words["base64"] || words["b64"]
}

// typesNamed are the endings of the types of documents that texts name, those of the first text first.
func typesNamed(documents map[string]string, texts []string) (out []string) {
	all := slices.Sorted(maps.Keys(documents))
	for _, text := range texts {
		words := plainWords(text)
		for _, ext := range all {
			named := words[ext] && len(ext) > 2 || slices.ContainsFunc(documentWords[ext], func(w string) bool { return words[w] })
			if named && len(out) < maxTextTried && !slices.Contains(out, ext) {
				out = append(out, ext)
			}
		}
	}
	return out
}

// plainWords are the words of a text and of its identifiers, in small letters.
func plainWords(text string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text[:min(len(text), maxSaidText)]), func(c rune) bool { return !unicode.IsLetter(c) && !unicode.IsDigit(c) }) {
		out[w] = true
	}
	for _, w := range schema.Words(text[:min(len(text), maxSaid)]) {
		out[w] = true
	}
	return out
}

// namesPlace reports whether an argument's name says that it leads to a file or a host.
func namesPlace(name string) bool {
	return slices.ContainsFunc(schema.Words(name), func(w string) bool {
		return slices.Contains([]string{"path", "file", "filename", "folder", "directory", "dir", "url", "uri", "host", "id", "name", "output", "format", "language", "type", "kind"}, w)
	})
}

// describedAs is what a tool's schema says of an argument, "" for nothing.
func describedAs(t *target, name string) string {
	var s struct {
		Properties map[string]struct{ Description, Title string } `json:"properties"`
	}
	if json.Unmarshal(t.decl.InputSchema, &s) != nil {
		return ""
	}
	return s.Properties[name].Title + " " + s.Properties[name].Description
}
