package sinkhole

import (
	"bytes"
	"testing"
)

const (
	connect4 = "\x10\x0f\x00\x04MQTT\x04\x02\x00\x1e\x00\x03abc"
	connect5 = "\x10\x10\x00\x04MQTT\x05\x02\x00\x1e\x00\x00\x03abc"
)

func TestMQTT(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, in, answer, left string }{
		{"connect", connect4, "\x20\x02\x00\x00", ""},
		{"connect by version 5", connect5, "\x20\x03\x00\x00\x00", ""},
		{"part of a packet", connect4 + "\x82\x09\x00", "\x20\x02\x00\x00", "\x82\x09\x00"},
		{"subscribe to two topics", connect4 + "\x82\x0c\x00\x07\x00\x02a/\x00\x00\x02b/\x01", "\x20\x02\x00\x00\x90\x04\x00\x07\x00\x00", ""},
		{"subscribe by version 5", connect5 + "\x82\x08\x00\x07\x00\x00\x02a/\x00", "\x20\x03\x00\x00\x00\x90\x04\x00\x07\x00\x00", ""},
		{"publish", connect4 + "\x30\x05\x00\x01ahi", "\x20\x02\x00\x00", ""},
		{"publish at least once", connect4 + "\x32\x07\x00\x01a\x00\x09hi", "\x20\x02\x00\x00\x40\x02\x00\x09", ""},
		{"publish once", connect4 + "\x34\x07\x00\x01a\x00\x09hi\x62\x02\x00\x09", "\x20\x02\x00\x00\x50\x02\x00\x09\x70\x02\x00\x09", ""},
		{"unsubscribe, ping, leave", connect4 + "\xa2\x05\x00\x03\x00\x01a\xc0\x00\xe0\x00\xc0\x00", "\x20\x02\x00\x00\xb0\x02\x00\x03\xd0\x00", ""},
	} {
		answer, left := (&dialogue{}).mqtt([]byte(c.in))
		if string(answer) != c.answer || string(left) != c.left {
			t.Errorf("%s: %q and %q left, want %q and %q", c.name, answer, left, c.answer, c.left)
		}
	}
	for head, want := range map[string]bool{connect4: true, connect5: true, connect4[:9]: true, "\x10\x11\x00\x06MQIsdp\x03": true, "\x10\x00": false, "": false, "\x16\x03\x01": false, "EHLO x": false} {
		if got := isMQTT([]byte(head)); got != want {
			t.Errorf("%q: %v", head, got)
		}
	}
}

func FuzzMQTT(f *testing.F) {
	f.Add([]byte(connect4 + "\x82\x0c\x00\x07\x00\x02a/\x00\x00\x02b/\x01\xe0\x00"))
	f.Add([]byte(connect5 + "\x34\x07\x00\x01a\x00\x09hi\x62\x02\x00\x09"))
	f.Add([]byte("\x82\xff\xff\xff\xff\x7f"))
	f.Fuzz(func(t *testing.T, in []byte) {
		isMQTT(in)
		d := &dialogue{}
		whole, left := d.mqtt(bytes.Clone(in))
		if len(left) > len(in) || len(whole) > 64*(len(in)+1) {
			t.Errorf("%d bytes: %d answered, %d left", len(in), len(whole), len(left))
		}
	})
}
