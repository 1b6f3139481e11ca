package canaries

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"testing"
)

// The same long answer to many calls is gone into once, and a secret in one of them is found.
func TestAnAnswerIsGoneIntoOnce(t *testing.T) {
	s := newSet(t, 5)
	noise := make([]byte, 600<<10)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(noise)
	answer := base64.StdEncoding.EncodeToString(noise)
	frame := func(id int, text string) []byte { return fmt.Appendf(nil, `{"id":%d,"result":"%s"}`, id, text) }
	for id := range 5 {
		if hits := s.Find(frame(10+id, answer)); len(hits) > 0 {
			t.Fatal(hits)
		}
	}
	// The first part holds the call's number.
	if n, parts := len(s.matcher().known.empty), len(answer)/partSize+1; n > parts+5 {
		t.Errorf("%d parts were gone into for answers of %d", n, parts)
	}
	c := byID(t, s, "aws-secret")
	hidden := base64.StdEncoding.EncodeToString(gzipped(fmt.Appendf(nil, "%x", c.Value)))
	at := len(answer) / 2
	for range 2 { // what was found is found again
		if hits := s.Find(frame(20, answer[:at]+" "+hidden+" "+answer[at:])); !has(hits, c.ID) {
			t.Error("the secret is not found")
		}
	}
}

func TestMemoIsBounded(t *testing.T) {
	var m memo
	first, _ := partKey(bytes.Repeat([]byte("a"), leastKnown), 0)
	m.add(first)
	if other, long := partKey(bytes.Repeat([]byte("a"), leastKnown), 1); !long || m.has(other) || !m.has(first) {
		t.Error("what was looked at before does not count")
	}
	if _, long := partKey([]byte("a"), 0); long {
		t.Error("a short part is remembered")
	}
	for i := range maxKnown {
		key := first
		key[0], key[1], key[2] = byte(i), byte(i>>8), ^first[2]
		m.add(key)
	}
	if len(m.empty) > maxKnown || m.has(first) {
		t.Errorf("%d parts are remembered", len(m.empty))
	}
}
