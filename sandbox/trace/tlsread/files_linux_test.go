//go:build amd64 || arm64

package tlsread

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
)

// What may map a library needs the programs before it does.
func TestHasLoader(t *testing.T) {
	t.Parallel()
	var bare bytes.Buffer // a program without segments
	header := elf.Header64{
		Ident: [elf.EI_NIDENT]byte{0x7f, 'E', 'L', 'F', byte(elf.ELFCLASS64), byte(elf.ELFDATA2LSB), byte(elf.EV_CURRENT)},
		Type:  uint16(elf.ET_EXEC), Machine: uint16(elf.EM_X86_64), Version: uint32(elf.EV_CURRENT), Ehsize: 64, Phentsize: 56, Shentsize: 64,
	}
	if err := binary.Write(&bare, binary.LittleEndian, header); err != nil {
		t.Fatal(err)
	}
	static := filepath.Join(t.TempDir(), "static")
	if err := os.WriteFile(static, bare.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{static: false, "/bin/sh": true, "files_linux_test.go": true} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := hasLoader(f); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
		_ = f.Close()
	}
}
