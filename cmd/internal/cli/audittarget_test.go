package cli

import (
	"crypto/sha512"
	"encoding/base64"
	"net/url"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/sandbox/install"
)

func TestHasIntegrity(t *testing.T) {
	sum := sha512.Sum512([]byte("x"))
	right := "sha512-" + base64.StdEncoding.EncodeToString(sum[:])
	for integrity, want := range map[string]bool{right: true, "sha1-AAAA " + right: true, "": false, "sha512-": false, "sha512-!": false, "sha1-" + right[7:]: false} {
		if got := hasIntegrity([]byte("x"), integrity); got != want {
			t.Errorf("%q: %t", integrity, got)
		}
	}
	if hasIntegrity([]byte("y"), right) {
		t.Error("another archive has the integrity too")
	}
}

func TestBestFile(t *testing.T) {
	for _, c := range []struct {
		files []string
		want  string
	}{
		{[]string{"a_b-1.0.tar.gz", "a_b-1.0-cp312-cp312-linux_x86_64.whl", "a_b-1.0-py3-none-any.whl"}, "a_b-1.0-py3-none-any.whl"},
		{[]string{"a_b-1.0.1-py3-none-any.whl", "A.B-1.0.tar.gz", "a_b-1.0.zip"}, "A.B-1.0.tar.gz"},
		{[]string{"a_b-1.0.post1-py3-none-any.whl", "a_b_c-1.0-py3-none-any.whl"}, ""},
	} {
		var files []pypiFile
		for _, n := range c.files {
			files = append(files, pypiFile{Filename: n})
		}
		got := ""
		if f := bestFile(files, "a-b", "1.0"); f != nil {
			got = f.Filename
		}
		if got != c.want {
			t.Errorf("%v: %q, want %q", c.files, got, c.want)
		}
	}
}

// Whatever a registry's page says, what is taken of it is of the name and the version that were asked for.
func FuzzRegistryPages(f *testing.F) {
	f.Add([]byte(`{"dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"dist":{"tarball":"https://r.example/a.tgz","integrity":"sha512-AA"}}}}`), "")
	f.Add([]byte(`{"dist-tags":{"1.0":"2.0"},"versions":{"2.0":null}}`), "1.0")
	f.Add([]byte(`{"files":[{"filename":"a_b-1.0-py3-none-any.whl","url":"../../x.whl#sha256=1","hashes":{"sha256":"00"}},{"filename":"a_b-1.0.tar.gz","url":"%zz"}]}`), "1.0")
	at := &url.URL{Scheme: "https", Host: "index.example", Path: "/simple/a-b/"}
	f.Fuzz(func(t *testing.T, page []byte, version string) {
		if v, err := decodeNPM(page, install.Spec{Kind: install.KindNPM, Name: "a", Version: version}); (v == nil) == (err == nil) {
			t.Error("neither a version nor an error")
		}
		best, link, err := decodePyPI(page, at, "a-b", install.Spec{Kind: install.KindPyPI, Name: "a-b", Version: version})
		if err != nil {
			return
		}
		if link.Fragment != "" || !best.isOf("a-b", version) || !strings.HasSuffix(best.Filename, ".whl") && !strings.HasSuffix(best.Filename, ".tar.gz") {
			t.Errorf("%+v at %s", best, link)
		}
	})
}
