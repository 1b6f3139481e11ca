package schema

import (
	"fmt"
	"strings"
)

// format draws a text of a standard format. False where the format is none of them.
func (d *drawer) format(name string) (string, bool) {
	r := d.rng
	switch name {
	case "date-time":
		return d.date() + "T" + d.clock() + "Z", true
	case "date":
		return d.date(), true
	case "time":
		return d.clock() + "Z", true
	case "duration":
		return d.of("PT1H", "P1D", "PT30M", "P1Y2M3DT4H5M6S", fmt.Sprintf("P%dW", 1+r.Intn(9))), true
	case "period":
		return d.date() + "T" + d.clock() + "Z/PT1H", true
	case "email", "idn-email":
		return d.label() + "@" + d.host(), true
	case "hostname", "idn-hostname":
		return d.host(), true
	case "ipv4":
		return fmt.Sprintf("192.0.2.%d", 1+r.Intn(250)), true
	case "ipv6":
		return fmt.Sprintf("2001:db8::%x", 1+r.Intn(0xfffe)), true
	case "uri", "iri", "url":
		return d.url(), true
	case "uri-reference", "iri-reference":
		return d.of("/"+d.label(), d.label()+"/"+d.label(), "?q="+d.label(), "#"+d.label(), d.url()), true
	case "uri-template":
		return "/" + d.label() + "/{" + d.label() + "}", true
	case "uuid":
		return d.uuid(), true
	case "json-pointer":
		return d.of("", "/"+d.label(), "/"+d.label()+"/0", "/a~1b/m~0n"), true
	case "relative-json-pointer":
		return d.of("0", "1/"+d.label(), "0#", "2/0"), true
	case "regex":
		return d.of("^[a-z]+$", "a+b*", "[0-9]{2,4}", `\w+`), true
	case "semver":
		return fmt.Sprintf("%d.%d.%d", r.Intn(5), r.Intn(20), r.Intn(20)), true
	}
	return d.label(), false
}

func (d *drawer) of(list ...string) string { return list[d.rng.Intn(len(list))] }

func (d *drawer) date() string {
	return fmt.Sprintf("%04d-%02d-%02d", 2020+d.rng.Intn(7), 1+d.rng.Intn(12), 1+d.rng.Intn(28))
}

func (d *drawer) clock() string {
	return fmt.Sprintf("%02d:%02d:%02d", d.rng.Intn(24), d.rng.Intn(60), d.rng.Intn(60))
}

func (d *drawer) label() string { return ordinaryWords[d.rng.Intn(len(ordinaryWords))] }

// host is always a reserved name.
func (d *drawer) host() string {
	return d.of("www", "api", "docs", d.label()) + "." + d.of("example.com", "example.org", "example.net")
}

// url leads to the reserved host that the caller chose.
func (d *drawer) url() string {
	base := strings.TrimSuffix(d.g.opts.Hints.url(), "/")
	if d.typical() || d.chance(50) {
		return base + "/" + d.of("", d.label(), d.label()+".html")
	}
	return d.of("http", "https") + "://" + d.host() + "/" + d.of("", d.label()+"?q="+d.label(), d.label()+"#"+d.label())
}

func (d *drawer) uuid() string {
	b := make([]byte, 16)
	for i := range b {
		b[i] = byte(d.rng.Intn(256))
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
