package synth

import (
	"bytes"
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"image"
	"image/color"
	"image/gif"
	"math/big"
	"strconv"
	"strings"
	"time"
)

// binaryFormats are documents of types that are no text and whose endings are named: pictures, office documents, fonts,
// recordings, archives. No other is made.
func (w *work) binaryFormats(named func(ending string) bool) (out []format) {
	title, item, count := w.title, w.items[0], strconv.Itoa(w.counts[0])
	parts := []zipPart{{"notes.txt", title + "\n"}, {"items/" + item + ".txt", count + "\n"}}
	text := func(s string) func() ([]byte, error) { return func() ([]byte, error) { return []byte(s), nil } }
	office := func(kind, body string) func() ([]byte, error) {
		return func() ([]byte, error) { return zipped(openDocument(kind, body)) }
	}
	signed := func() ([]byte, error) { return certificate(w.at) }
	for _, f := range []struct {
		ending, name string
		make         func() ([]byte, error)
	}{
		{".gif", "images/dot.gif", func() ([]byte, error) { return animated(w.colour) }},
		{".bmp", "images/dot.bmp", func() ([]byte, error) { return bitmap(w.colour), nil }},
		{".ttf", "fonts/example.ttf", func() ([]byte, error) { return font("Example " + strings.ToUpper(item[:1]) + item[1:]), nil }},
		{".pcap", "data/capture.pcap", func() ([]byte, error) { return capture(), nil }},
		{".wasm", "data/empty.wasm", text("\x00asm\x01\x00\x00\x00")},
		{".torrent", "data/list.torrent", text("d8:announce31:http://tracker.example.com:6969/4:infod6:lengthi4e4:name8:list.txt12:piece lengthi16384e6:pieces20:" + strings.Repeat("\x2a", 20) + "ee")},
		{".tgz", "data/backup.tgz", func() ([]byte, error) { return tarred(parts, w.at) }},
		{".tar", "data/backup.tar", func() ([]byte, error) { return tarball(parts, w.at) }},
		{".crt", "data/www.crt", signed}, {".cer", "data/www.cer", signed},
		{".odt", "docs/letter.odt", office("text", `<text:h text:outline-level="1">`+title+`</text:h><text:p>`+item+`</text:p>`)},
		{".ods", "docs/stock.ods", office("spreadsheet", `<table:table table:name="Stock"><table:table-row><table:table-cell office:value-type="string"><text:p>`+item+
			`</text:p></table:table-cell><table:table-cell office:value-type="float" office:value="`+count+`"><text:p>`+count+`</text:p></table:table-cell></table:table-row></table:table>`)},
		{".odp", "docs/talk.odp", office("presentation", `<draw:page draw:name="one"><draw:frame><draw:text-box><text:p>`+title+`</text:p></draw:text-box></draw:frame></draw:page>`)},
		{".jar", "data/example.jar", func() ([]byte, error) {
			return zipped([]zipPart{{"META-INF/MANIFEST.MF", "Manifest-Version: 1.0\r\nImplementation-Title: " + item + "\r\n\r\n"}, {"config.properties", "count=" + count + "\n"}})
		}},
		{".sqlite", "data/stock.sqlite", w.database}, {".sqlite3", "data/stock.sqlite3", w.database},
	} {
		if !named(f.ending) {
			continue
		}
		if data, err := f.make(); err == nil { // writing to memory does not fail
			out = append(out, format{f.ending, f.name, string(data)})
		}
	}
	return out
}

// openDocument is a document of OpenDocument 1.3 (part 2, 3.1): the type comes first.
func openDocument(kind, body string) []zipPart {
	media := "application/vnd.oasis.opendocument." + kind
	const head, ns = `<?xml version="1.0" encoding="UTF-8"?>` + "\n", "urn:oasis:names:tc:opendocument:xmlns:"
	return []zipPart{
		{"mimetype", media},
		{"META-INF/manifest.xml", head + `<manifest:manifest xmlns:manifest="` + ns + `manifest:1.0" manifest:version="1.3"><manifest:file-entry manifest:full-path="/" manifest:media-type="` + media +
			`"/><manifest:file-entry manifest:full-path="content.xml" manifest:media-type="text/xml"/></manifest:manifest>`},
		{"content.xml", head + `<office:document-content xmlns:office="` + ns + `office:1.0" xmlns:text="` + ns + `text:1.0" xmlns:table="` + ns + `table:1.0" xmlns:draw="` + ns +
			`drawing:1.0" office:version="1.3"><office:body><office:` + kind + `>` + body + `</office:` + kind + `></office:body></office:document-content>`},
	}
}

// animated is a GIF of two frames.
func animated(c [3]byte) ([]byte, error) {
	colours := color.Palette{color.White, color.RGBA{c[0], c[1], c[2], 255}}
	frame := func(index uint8) *image.Paletted {
		img := image.NewPaletted(image.Rect(0, 0, 4, 4), colours)
		img.Pix[5] = index
		return img
	}
	var b bytes.Buffer
	err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{frame(0), frame(1)}, Delay: []int{20, 20}})
	return b.Bytes(), err
}

// bitmap is a BMP of two by two pixels of 24 bits.
func bitmap(c [3]byte) []byte {
	b := []byte("BM")
	for _, v := range []uint32{70, 0, 54, 40, 2, 2, 1 | 24<<16, 0, 16, 2835, 2835, 0, 0} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	for range 2 {
		b = append(b, c[2], c[1], c[0], 255, 255, 255, 0, 0)
	}
	return b
}

// capture is a capture of one UDP datagram over IPv4 (draft-ietf-opsawg-pcap).
func capture() []byte {
	packet := []byte{
		2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, // Ethernet
		0x45, 0, 0, 33, 0, 1, 0, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2, // IPv4
		0x30, 0x39, 0, 53, 0, 13, 0, 0, 'h', 'e', 'l', 'l', 'o',
	}
	var b []byte
	for _, v := range []uint32{0xa1b2c3d4, 2 | 4<<16, 0, 0, 65535, 1, 1_773_480_600, 0, uint32(len(packet)), uint32(len(packet))} {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return append(b, packet...)
}

// certificate is one that signs itself, for www.example.com (RFC 5280), with a key that nobody has.
func certificate(at time.Time) ([]byte, error) {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "www.example.com", Organization: []string{"Example"}}, DNSNames: []string{"www.example.com"},
		NotBefore: at, NotAfter: at.AddDate(2, 0, 0), KeyUsage: x509.KeyUsageDigitalSignature,
	}
	der, err := x509.CreateCertificate(nil, c, c, key.Public(), key) // Ed25519 draws nothing
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), err
}
