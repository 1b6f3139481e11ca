package sinkhole

import (
	"bytes"
	"testing"
)

func TestPostgresRefuses(t *testing.T) {
	t.Parallel()
	tls := []byte{0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f}
	startup := append([]byte{0, 0, 0, 19, 0, 3, 0, 0}, "user\x00erin\x00\x00"...)
	password := append([]byte{'p', 0, 0, 0, 11}, "secret\x00"...)
	if !isPostgres(tls) || !isPostgres(startup) || isPostgres(password) || isPostgres([]byte("GET / HTTP/1.1\r\n")) || isPostgres(nil) {
		t.Error("the first messages are not told")
	}
	state := &dialogue{}
	var said []byte
	var left []byte
	for _, c := range bytes.Join([][]byte{tls, startup, password}, nil) { // a byte at a time
		var answer []byte
		answer, left = state.postgres(append(left, c))
		said = append(said, answer...)
	}
	if want := append([]byte("NR\x00\x00\x00\x08\x00\x00\x00\x03E"), said[min(len(said), 11):]...); !bytes.Equal(said, want) || !bytes.Contains(said, []byte("C28P01")) || !state.quit {
		t.Errorf("%q, quit %t", said, state.quit)
	}
}

func TestMySQLRefuses(t *testing.T) {
	t.Parallel()
	p := []byte(mysql.banner)
	if int(p[0]) != len(p)-4 || p[3] != 0 || p[4] != 0xff || p[5] != 0x6a || p[6] != 0x04 {
		t.Errorf("%x", p)
	}
}

func FuzzPostgres(f *testing.F) {
	f.Add([]byte{0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f})
	f.Fuzz(func(t *testing.T, in []byte) {
		state := &dialogue{}
		answer, left := state.postgres(in)
		if len(left) > len(in) || len(answer) > 128+len(in) {
			t.Fatalf("%d said, %d left of %d", len(answer), len(left), len(in))
		}
	})
}
