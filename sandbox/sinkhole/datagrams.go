package sinkhole

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"strings"
	"time"
)

// The ports of the services that answer datagrams, beside DNS.
const (
	ntpPort  = 123
	ssdpPort = 1900
)

// device is a device of the local network that answers what is asked of all. Its description lies at devicePath.
var device = netip.MustParseAddr("192.168.1.20")

const (
	devicePath = "/description.xml"
	devicePort = 49152
	deviceUUID = "uuid:2fac1234-31f8-11b4-a222-08002b34c003"
)

// replyTo is what a service behind a port answers to a datagram, by the port alone, and who answers: nil for
// no answer.
func replyTo(dst netip.AddrPort, p []byte, now time.Time) (from netip.AddrPort, out []byte) {
	switch dst.Port() {
	case ntpPort:
		return dst, ntpReply(p, now)
	case ssdpPort:
		from = dst
		if dst.Addr().IsMulticast() {
			from = netip.AddrPortFrom(device, ssdpPort)
		}
		return from, ssdpReply(p, from.Addr())
	}
	return dst, nil
}

const (
	ntpSize = 48
	// ntpEpoch is the second of 1970 on NTP's clock, which begins in 1900.
	ntpEpoch = 2208988800
)

// ntpReply is a server's answer to a client's question of the time (RFC 5905, section 7.3), nil for none.
func ntpReply(p []byte, now time.Time) []byte {
	const client, server, stratum, precision = 3, 4, 2, 0xec
	if len(p) < ntpSize || p[0]&7 != client {
		return nil
	}
	out := make([]byte, ntpSize)
	out[0], out[1], out[2], out[3] = p[0]&0x38|server, stratum, p[2], precision
	copy(out[12:16], "GPS\x00")
	stamp := uint64(now.Unix()+ntpEpoch)<<32 | uint64(now.Nanosecond())<<32/uint64(time.Second)
	for _, at := range []int{16, 32, 40} { // reference, receive, transmit
		binary.BigEndian.PutUint64(out[at:], stamp)
	}
	copy(out[24:32], p[40:48]) // the client's transmit time
	return out
}

// ssdpReply is a device's answer to a search (UPnP Device Architecture 2.0, section 1.3.3), nil for what is none.
func ssdpReply(p []byte, from netip.Addr) []byte {
	head, _, _ := bytes.Cut(p, []byte("\r\n\r\n"))
	lines := strings.Split(string(head), "\r\n")
	if len(p) > 2048 || !strings.HasPrefix(lines[0], "M-SEARCH ") {
		return nil
	}
	target := ""
	for _, line := range lines[1:] {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(strings.TrimSpace(name), "ST") {
			target = strings.TrimSpace(value)
		}
	}
	if target == "" || target == "ssdp:all" {
		target = "upnp:rootdevice"
	}
	return []byte("HTTP/1.1 200 OK\r\nCACHE-CONTROL: max-age=1800\r\nEXT:\r\nLOCATION: http://" + netip.AddrPortFrom(from, devicePort).String() + devicePath +
		"\r\nSERVER: Linux/5.10 UPnP/1.1 Player/1.4\r\nST: " + target + "\r\nUSN: " + deviceUUID + "::" + target + "\r\n\r\n")
}

// deviceDescription is the description of a device that renders media (UPnP Device Architecture 2.0, section 2.3).
func deviceDescription(string, string, *Planted) string {
	service := func(kind string) string {
		return "<service><serviceType>urn:schemas-upnp-org:service:" + kind + ":1</serviceType><serviceId>urn:upnp-org:serviceId:" + kind +
			"</serviceId><SCPDURL>/" + kind + ".xml</SCPDURL><controlURL>/" + kind + "/control</controlURL><eventSubURL>/" + kind + "/event</eventSubURL></service>"
	}
	return `<?xml version="1.0" encoding="UTF-8"?>` + "\n" + `<root xmlns="urn:schemas-upnp-org:device-1-0"><specVersion><major>1</major><minor>1</minor></specVersion><device>` +
		"<deviceType>urn:schemas-upnp-org:device:MediaRenderer:1</deviceType><friendlyName>Kitchen</friendlyName><manufacturer>Autumn Audio</manufacturer>" +
		"<modelName>Player</modelName><modelNumber>1.4</modelNumber><serialNumber>10240512</serialNumber><UDN>" + deviceUUID + "</UDN><serviceList>" +
		service("AVTransport") + service("RenderingControl") + service("ConnectionManager") + "</serviceList></device></root>\n"
}
