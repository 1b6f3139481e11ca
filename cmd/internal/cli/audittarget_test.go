package cli

import (
	"crypto/sha512"
	"encoding/base64"
	"testing"
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
