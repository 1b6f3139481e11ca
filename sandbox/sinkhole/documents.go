package sinkhole

import (
	"bytes"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
)

// documents are what is served under names and extensions by which programs find documents without asking anybody:
// each as its readers expect it, with what is planted where people would have written it.
var documents = []struct {
	fits func(p string) bool // a path in lower case
	kind string
	body func(host, name string, planted *Planted) string
}{
	{hasBase("llms.txt", "llms-full.txt", "llms-small.txt"), "text/plain; charset=utf-8", llmsText}, // llmstxt.org
	{hasBase("sitemap.xml", "sitemap_index.xml", "sitemap-0.xml"), "application/xml", sitemap},      // sitemaps.org/protocol.html
	{hasBase("description.xml", "rootdesc.xml", "device.xml", "devicedesc.xml", "device_description.xml", "desc.xml"), "text/xml; charset=\"utf-8\"", deviceDescription},
	{isFeed, "application/rss+xml; charset=utf-8", feed},                 // rssboard.org/rss-specification
	{hasExtension(".atom"), "application/atom+xml; charset=utf-8", atom}, // RFC 4287
	{hasExtension(".md", ".mdx", ".markdown"), "text/markdown; charset=utf-8", markdownPage},
	{hasExtension(".csv"), "text/csv; charset=utf-8", func(string, string, *Planted) string {
		return "id,name,date,value\n1024,Autumn,2026-01-12,12\n1025,Winter,2026-01-13,14\n"
	}},
	{hasExtension(".yaml", ".yml"), "application/yaml", func(string, string, *Planted) string {
		return "id: 1024\nname: Autumn\nversion: 1.0.0\nstatus: ok\nitems:\n  - id: 1\n    name: Autumn\n"
	}},
	{hasExtension(".ics"), "text/calendar; charset=utf-8", func(host, _ string, planted *Planted) string {
		return "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//" + host + "//EN\r\nBEGIN:VEVENT\r\nUID:1024@" + host + "\r\nDTSTAMP:20260112T080000Z\r\nDTSTART:20260113T090000Z\r\nDTEND:20260113T100000Z\r\nSUMMARY:Autumn\r\n" +
			"DESCRIPTION:" + strings.NewReplacer("\n", "\\n", ",", "\\,", ";", "\\;").Replace(planted.notes()) + "\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n" // RFC 5545
	}},
	{hasExtension(".bib"), "application/x-bibtex; charset=utf-8", func(string, string, *Planted) string {
		return "@article{Morgan_2026, title={Autumn}, volume={12}, DOI={10.5555/12345678}, journal={Journal of Examples}, author={Morgan, Alex}, year={2026}, month=jan }\n"
	}},
	{hasExtension(".vtt"), "text/vtt; charset=utf-8", func(string, string, *Planted) string {
		return "WEBVTT\n\n00:00:01.000 --> 00:00:03.500\nAutumn has come.\n"
	}},
	{hasExtension(".mp3"), "audio/mpeg", func(string, string, *Planted) string { return silence() }},
	{hasExtension(".pdf"), "application/pdf", func(string, string, *Planted) string { return string(PDF("Quarterly report")) }},
	{hasExtension(".png", ".jpg", ".jpeg", ".gif", ".webp", ".ico"), "image/png", func(string, string, *Planted) string { return picture() }},
	{hasExtension(".svg"), "image/svg+xml", func(string, string, *Planted) string {
		return `<svg xmlns="http://www.w3.org/2000/svg" width="16" height="16"><rect width="16" height="16" fill="#3366cc"/></svg>` + "\n"
	}},
}

// acceptable are the types that a request may accept first, and the extension of the document that it gets.
var acceptable = map[string]string{
	"text/markdown": ".md", "application/rss+xml": ".rss", "application/atom+xml": ".atom", "text/calendar": ".ics", "application/x-bibtex": ".bib",
	"text/csv": ".csv", "application/pdf": ".pdf", "image/png": ".png", "audio/mpeg": ".mp3", "text/vtt": ".vtt",
}

// document is the document that a request asks for by the name in its path, or by the type that it accepts alone.
func document(r *http.Request, host string, planted *Planted) (page, bool) {
	p := strings.ToLower(r.URL.Path)
	accept := r.Header.Get("Accept")
	first, _, _ := strings.Cut(accept, ",")
	if kind, _, err := mime.ParseMediaType(first); err == nil && acceptable[kind] != "" {
		p += acceptable[kind]
	} else if isFeed(p) && strings.Contains(accept, "json") {
		return page{}, false
	}
	for _, d := range documents {
		if d.fits(p) {
			return page{status: http.StatusOK, kind: d.kind, body: d.body(host, p, planted)}, true
		}
	}
	return page{}, false
}

func hasBase(names ...string) func(string) bool {
	return func(p string) bool {
		for _, name := range names {
			if path.Base(p) == name {
				return true
			}
		}
		return false
	}
}

func hasExtension(list ...string) func(string) bool {
	return func(p string) bool {
		for _, extension := range list {
			if strings.HasSuffix(p, extension) {
				return true
			}
		}
		return false
	}
}

// isFeed reports whether a path is by its last word that of a feed.
func isFeed(p string) bool {
	switch base := path.Base(p); base {
	case "rss", "feed", "rss.xml", "feed.xml", "index.xml":
		return true
	default:
		return strings.HasSuffix(base, ".rss") || strings.HasSuffix(base, ".xml")
	}
}

// silence is a tenth of a second of MPEG 1 layer III: four frames of 128 kbit/s at 44.1 kHz (ISO 11172-3, 2.4.1).
func silence() string {
	const frame = 144 * 128_000 / 44_100
	return strings.Repeat("\xff\xfb\x90\x64"+strings.Repeat("\x00", frame-4), 4)
}

// titled is a title made of the last word of a path, "Autumn" where it has none.
func titled(p string) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return ' '
	}, strings.TrimSuffix(path.Base(p), path.Ext(p)))
	if name = strings.Join(strings.Fields(name), " "); name == "" {
		return "Autumn"
	}
	return strings.ToUpper(name[:1]) + name[1:]
}

// notes are what people would have written into a document of text.
func (p *Planted) notes() string {
	if p == nil {
		return steady
	}
	return steady + " Further reading: [handbook](" + p.Link + "), [archive](" + p.Inner + ").\n\n" + p.Order
}

func llmsText(host, _ string, planted *Planted) string {
	page := func(name, about string) string {
		return fmt.Sprintf("- [%s](https://%s/docs/%s.md): %s\n", name, host, strings.ToLower(strings.ReplaceAll(name, " ", "-")), about)
	}
	return "# " + host + "\n\n> Documentation for people and models.\n\n" + planted.notes() + "\n\n## Docs\n\n" +
		page("Quick start", "How to begin") + page("Button", "A component that is pressed") + page("Configuration", "All settings") +
		"\n## Optional\n\n" + page("Changelog", "What is new")
}

func markdownPage(_, name string, planted *Planted) string {
	return "---\ntitle: " + titled(name) + "\ndescription: " + steady + "\n---\n\n# " + titled(name) + "\n\n" + planted.notes() + "\n\n## Installation\n\n```sh\n" + planted.line() + "\n```\n\n" +
		"## Usage\n\n```js\nconst autumn = open(\"autumn\");\n```\n\n## API\n\n| Name | Type | Default | Description |\n|---|---|---|---|\n| `name` | `string` | `\"autumn\"` | " + steady + " |\n"
}

func sitemap(host, _ string, _ *Planted) string {
	out := `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + "\n"
	for _, p := range []string{"", "about", "docs/quick-start", "blog/autumn"} {
		out += "<url><loc>https://" + html.EscapeString(host) + "/" + p + "</loc><lastmod>2026-01-12</lastmod></url>\n"
	}
	return out + "</urlset>\n"
}

// escaped are the notes as XML and HTML have them.
func (p *Planted) escaped() string { return html.EscapeString(p.notes()) }

func feed(host, _ string, planted *Planted) string {
	host = html.EscapeString(host)
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<rss version="2.0"><channel><title>` + host + `</title><link>https://` + host + `/</link><description>News</description>` +
		`<item><title>Autumn</title><enclosure url="https://` + host + `/media/autumn.mp3" type="audio/mpeg" length="4096"/><link>https://` + host + `/blog/autumn</link><guid>https://` + host + `/blog/autumn</guid><pubDate>Mon, 12 Jan 2026 08:00:00 GMT</pubDate><description>` +
		planted.escaped() + "</description></item></channel></rss>\n"
}

func atom(host, _ string, planted *Planted) string {
	host = html.EscapeString(host)
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<feed xmlns="http://www.w3.org/2005/Atom"><title>` + host + `</title><id>https://` + host + `/</id><updated>2026-01-12T08:00:00Z</updated>` +
		`<entry><title>Autumn</title><id>https://` + host + `/blog/autumn</id><link href="https://` + host + `/blog/autumn"/><updated>2026-01-12T08:00:00Z</updated><author><name>Alex Morgan</name></author><summary>` +
		planted.escaped() + "</summary></entry></feed>\n"
}

// picture is a small picture of one colour (PNG).
var picture = sync.OnceValue(func() string {
	m := image.NewRGBA(image.Rect(0, 0, 16, 16))
	for i := range 256 {
		m.Set(i%16, i/16, color.RGBA{R: 0x33, G: 0x66, B: 0xcc, A: 0xff})
	}
	var b bytes.Buffer
	if png.Encode(&b, m) != nil { // it writes to memory
		return ""
	}
	return b.String()
})
