package synth

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"database/sql"
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // reads the database

	"github.com/coalmine-dev/coalmine/synth/schema"
)

// sampleOf is the sample of an extension.
func sampleOf(t *testing.T, seed int64, ext string) sample {
	t.Helper()
	list := drawWork(seed).samples()
	i := slices.IndexFunc(list, func(s sample) bool { return strings.HasSuffix(s.name, ext) })
	if i < 0 {
		t.Fatalf("no %s among the samples", ext)
	}
	return list[i]
}

// A tool that names a type of files is given one, and none of them is large.
func TestSamplesOfEachType(t *testing.T) {
	t.Parallel()
	for name, ext := range map[string]string{
		"sqlite": ".db", "database": ".db", "powerpoint": ".pptx", "presentation": ".pptx", "tar": ".gz", "tgz": ".gz", "parquet": ".parquet", "word": ".docx", "zip": ".zip",
	} {
		s := sampleOf(t, 7, ext)
		if again := sampleOf(t, 7, ext); !bytes.Equal(s.data, again.data) || len(s.data) == 0 || len(s.data) > 16<<10 {
			t.Errorf("%s: %d bytes, then others", s.name, len(s.data))
		}
		if other := sampleOf(t, 8, ext); bytes.Equal(s.data, other.data) {
			t.Errorf("%s is the same for two seeds", s.name)
		}
		if !schema.NamesType(name+"Path", ext) {
			t.Errorf("%s does not stand for %s", name, ext)
		}
	}
}

func TestSampleDatabase(t *testing.T) {
	t.Parallel()
	for seed := range int64(8) {
		w := drawWork(seed)
		name := filepath.Join(t.TempDir(), "stock.db")
		if err := os.WriteFile(name, sampleOf(t, seed, ".db").data, 0o600); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() }) // nothing is written
		for query, want := range map[string]string{
			"PRAGMA integrity_check": "ok", "PRAGMA foreign_key_check": "",
			"SELECT group_concat(name) FROM sqlite_master WHERE type = 'table'":                          "items,orders",
			"SELECT count(*) FROM orders JOIN items ON items.id = orders.item_id":                        fmt.Sprint(len(w.items)),
			"SELECT name || ' ' || count FROM items WHERE id = 1":                                        fmt.Sprintf("%s %d", w.items[0], w.counts[0]),
			"INSERT INTO items (name) VALUES ('lamp') RETURNING id":                                      fmt.Sprint(len(w.items) + 1),
			"SELECT count(*) FROM orders WHERE placed IS NULL OR placed <> strftime('%Y-%m-%d', placed)": "0",
		} {
			var got string
			err := db.QueryRow(query).Scan(&got)
			if none := want == "" && errors.Is(err, sql.ErrNoRows); err != nil && !none || got != want {
				t.Errorf("seed %d: %s: %q, want %q; %v", seed, query, got, want, err)
			}
		}
	}
}

// The presentation is a ZIP of well-formed XML, in which each relationship leads to a part.
func TestSamplePresentation(t *testing.T) {
	t.Parallel()
	data := sampleOf(t, 7, ".pptx").data
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, f := range z.File {
		names[f.Name] = true
	}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		for d := xml.NewDecoder(r); ; {
			token, err := d.Token()
			if errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
			e, ok := token.(xml.StartElement)
			if !ok || e.Name.Local != "Relationship" {
				continue
			}
			for _, a := range e.Attr {
				if to := path.Join(path.Dir(path.Dir(f.Name)), a.Value); a.Name.Local == "Target" && !names[to] {
					t.Errorf("%s leads to %s, which is not there", f.Name, to)
				}
			}
		}
	}
}

func TestSampleArchive(t *testing.T) {
	t.Parallel()
	z, err := gzip.NewReader(bytes.NewReader(sampleOf(t, 7, ".tar.gz").data))
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		names = append(names, h.Name)
	}
	if len(names) != 2 || names[0] != "notes.txt" {
		t.Errorf("%q", names)
	}
}

// A file of Parquet begins and ends with its magic, before which its footer has its length. The bytes are those of
// which pyarrow read the same rows.
func TestSampleParquet(t *testing.T) {
	t.Parallel()
	data := parquet([]string{"lamp", "bed"}, []int{3, 4})
	footer := int(binary.LittleEndian.Uint32(data[len(data)-8:]))
	if !bytes.HasPrefix(data, []byte("PAR1")) || !bytes.HasSuffix(data, []byte("PAR1")) || footer >= len(data)-12 {
		t.Fatalf("%q", data)
	}
	const rows = "\x04\x00\x00\x00lamp\x03\x00\x00\x00bed"
	const numbers = "\x03\x00\x00\x00\x00\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00"
	if !bytes.Contains(data, []byte(rows)) || !bytes.Contains(data, []byte(numbers)) {
		t.Errorf("%q", data)
	}
}
