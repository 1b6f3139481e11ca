package install

import (
	"archive/zip"
	"bufio"
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// writeDirectory writes a ZIP without files whose directory has so many entries, and
// whose end record says what it is told to.
func writeDirectory(t *testing.T, entries int, said uint16, length uint32) *os.File {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "x.whl"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	w := bufio.NewWriterSize(f, 1<<20)
	name := strings.Repeat("a", 41)
	header := make([]byte, 46, 87)
	copy(header, "PK\x01\x02")
	binary.LittleEndian.PutUint16(header[28:], uint16(len(name)))
	header = append(header, name...)
	for range entries {
		_, _ = w.Write(header) // Flush says whether it failed
	}
	end := make([]byte, 22)
	copy(end, "PK\x05\x06")
	binary.LittleEndian.PutUint16(end[8:], said)
	binary.LittleEndian.PutUint16(end[10:], said)
	binary.LittleEndian.PutUint32(end[12:], length)
	_, _ = w.Write(end)
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return f
}

// TestZIPDirectoryIsBounded reads a directory of 87 MB, under end records that say
// so and that do not: it takes little memory to refuse it.
func TestZIPDirectoryIsBounded(t *testing.T) {
	const entries = 1_000_000
	for name, c := range map[string]struct {
		said   uint16
		length uint32
	}{
		"as it is": {0xffff, entries * 87}, "its count modulo 65536": {entries % 65536, entries * 87}, "a small one": {1, 87}, "a length of 0": {entries % 65536, 0}, "ZIP64": {0xffff, 0xffffffff},
	} {
		f := writeDirectory(t, entries, c.said, c.length)
		info, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err = openZip(f, info.Size())
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; err == nil || got > 64<<20 {
			t.Errorf("%s: %v after %d MB", name, err, got>>20)
		}
	}
}

// An ordinary archive is read whole, also behind the directory.
func TestOpenZIP(t *testing.T) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range []string{"a/b.py", "a-1.dist-info/METADATA"} {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write(bytes.Repeat([]byte(name), 1<<20))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.SetComment("PK"); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	z, err := openZip(bytes.NewReader(b.Bytes()), int64(b.Len()))
	if err != nil || len(z.File) != 2 {
		t.Fatal(err)
	}
	for _, e := range z.File {
		r, err := e.Open()
		if err != nil {
			t.Fatal(err)
		}
		var got bytes.Buffer
		if _, err := got.ReadFrom(r); err != nil || got.Len() != len(e.Name)<<20 {
			t.Errorf("%s: %d bytes, %v", e.Name, got.Len(), err)
		}
	}
}

// FuzzOpenZIP: what opens is what archive/zip opens, and nothing else fails otherwise.
func FuzzOpenZIP(f *testing.F) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	_, _ = w.Create("a") // a buffer takes all
	_ = w.Close()
	f.Add(b.Bytes())
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<20 {
			t.Skip("longer than is of use")
		}
		z, err := openZip(bytes.NewReader(data), int64(len(data)))
		plain, plainErr := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err == nil && (plainErr != nil || len(z.File) != len(plain.File)) {
			t.Fatalf("%d entries, and archive/zip says %v", len(z.File), plainErr)
		}
	})
}
