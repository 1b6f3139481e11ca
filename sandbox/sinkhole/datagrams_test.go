package sinkhole

import (
	"encoding/binary"
	"encoding/xml"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"
)

func TestNTP(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 14, 9, 30, 0, 500_000_000, time.UTC)
	question := make([]byte, 48)
	question[0] = 0x23 // version 4, a client
	binary.BigEndian.PutUint64(question[40:], 0x1122334455667788)
	from, out := replyTo(netip.MustParseAddrPort("192.0.2.7:123"), question, now)
	if from.String() != "192.0.2.7:123" || len(out) != 48 || out[0] != 0x24 {
		t.Fatalf("%s %x", from, out)
	}
	if got := binary.BigEndian.Uint64(out[24:]); got != 0x1122334455667788 {
		t.Errorf("originate %x", got)
	}
	stamp := binary.BigEndian.Uint64(out[40:])
	if got := time.Unix(int64(stamp>>32)-ntpEpoch, int64(stamp&0xffffffff*1e9>>32)).UTC(); got.Sub(now).Abs() > time.Microsecond {
		t.Errorf("transmit %s, want %s", got, now)
	}
	for _, other := range [][]byte{nil, question[:47], append([]byte{0x24}, question[1:]...)} {
		if out := ntpReply(other, now); out != nil {
			t.Errorf("%x was answered", other)
		}
	}
}

func TestSSDP(t *testing.T) {
	t.Parallel()
	const search = "M-SEARCH * HTTP/1.1\r\nHOST: 239.255.255.250:1900\r\nMAN: \"ssdp:discover\"\r\nMX: 2\r\nST: urn:schemas-upnp-org:device:MediaRenderer:1\r\n\r\n"
	for _, c := range []struct{ to, from, text, st, location string }{
		{"239.255.255.250:1900", "192.168.1.20:1900", search, "urn:schemas-upnp-org:device:MediaRenderer:1", "http://192.168.1.20:49152/description.xml"},
		{"192.168.1.7:1900", "192.168.1.7:1900", strings.Replace(search, "urn:schemas-upnp-org:device:MediaRenderer:1", "ssdp:all", 1), "upnp:rootdevice", "http://192.168.1.7:49152/description.xml"},
		{"[ff02::c]:1900", "192.168.1.20:1900", "NOTIFY * HTTP/1.1\r\n\r\n", "", ""},
		{"239.255.255.250:1900", "192.168.1.20:1900", search + strings.Repeat("x", 3000), "", ""},
	} {
		from, out := replyTo(netip.MustParseAddrPort(c.to), []byte(c.text), time.Time{})
		if from.String() != c.from || (len(out) > 0) != (c.st != "") {
			t.Errorf("%s: from %s: %q", c.to, from, out)
		}
		if c.st != "" && (!strings.Contains(string(out), "\r\nST: "+c.st+"\r\n") || !strings.Contains(string(out), "\r\nLOCATION: "+c.location+"\r\n")) {
			t.Errorf("%s: %q", c.to, out)
		}
	}
}

func TestDescriptionOfADevice(t *testing.T) {
	t.Parallel()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://192.168.1.20:49152/description.xml", nil)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Name string `xml:"device>friendlyName"`
	}
	_, body := (&Config{}).Answer(r)
	if err := xml.Unmarshal([]byte(body), &got); err != nil || got.Name == "" {
		t.Errorf("%v: %s", err, body)
	}
}

func FuzzDatagrams(f *testing.F) {
	f.Add(uint16(1900), []byte("M-SEARCH * HTTP/1.1\r\nST: x\r\n\r\n"))
	f.Add(uint16(123), make([]byte, 48))
	f.Fuzz(func(t *testing.T, port uint16, p []byte) {
		if _, out := replyTo(netip.AddrPortFrom(netip.MustParseAddr("192.0.2.1"), port), p, time.Unix(0, 0)); len(out) > len(p)+1024 {
			t.Errorf("%d bytes for %d", len(out), len(p))
		}
	})
}
