package schema

import (
	"encoding/base64"
	"strings"
)

// ordinaryWords stand where a short word is needed.
var ordinaryWords = []string{"alpha", "report", "summary", "project", "garden", "river", "market", "window", "letter", "planet",
	"coffee", "travel", "music", "winter", "bridge", "silver"}

var sentences = []string{
	"The quarterly report is ready for review.",
	"Please check the list before the meeting on Monday.",
	"A short note about the garden project.",
	"The weather was fine and the market was busy.",
	"Two of the three tasks are finished.",
}

// unsigned is a JSON Web Token: its issuer, its subject and a signature of no key.
var unsigned = strings.Join([]string{
	base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256","typ":"JWT"}`)),
	base64.RawURLEncoding.EncodeToString([]byte(`{"iss":"example.com","sub":"alex","iat":1773480600}`)),
	base64.RawURLEncoding.EncodeToString(make([]byte, 32)),
}, ".")

// values by kind, the plainest first: the first call takes that one.
var kindValues = withGrammars(map[kind][]string{
	kTimezone: {"Europe/London", "America/New_York", "Asia/Tokyo", "UTC"},
	kLanguage: {"en", "de", "fr"},
	kProgram:  {"javascript", "python", "bash"},
	kEmail:    {"alex@example.com", "sam@example.org"},
	kDateTime: {"2026-03-14T09:30:00Z", "2026-06-01T12:00:00Z"},
	kDate:     {"2026-03-14", "2026-06-01"},
	kTime:     {"09:30", "14:45"},
	kQuery:    {"report", "garden", "project", "getting started"},
	kRegex:    {"[a-z]+", "report", "^The"},
	kGlob:     {"*.txt", "**/*.md", "*"},
	kCommand:  {"echo hello", "ls", "pwd", "date"},
	kCode:     {"1 + 1", "console.log('hello')", "print('hello')"},
	kFunction: {"() => document.title", "() => 1 + 1"},
	kMath:     {"1 + 2", "3 * (4 + 5)"},
	kCron:     {"0 9 * * 1", "*/5 * * * *"},
	kSQL:      {"SELECT 1", "SELECT 1 AS one"},
	kHTML:     {"<p>Hello</p>", "<h1>Title</h1><p>Text</p>"},
	kMarkdown: {"# Notes\n\nThe report is ready.\n", "- one\n- two\n"},
	kJSON:     {`{"name":"report","count":3}`, `[1,2,3]`},
	kXML:      {"<note><to>Sam</to></note>"},
	kMermaid:  {"graph TD; A-->B;", "sequenceDiagram\n  A->>B: Hello"},
	kCSS:      {"body { margin: 0; }"},
	kHost:     {"www.example.com", "example.org"},
	kPort:     {"8080", "3000"},
	kIP:       {"192.0.2.10", "198.51.100.7"},
	kCIDR:     {"192.0.2.0/24"},
	kColor:    {"#3366cc", "red", "blue"},
	kCurrency: {"USD", "EUR"},
	kCountry:  {"US", "DE"},
	kCity:     {"London", "New York", "Tokyo"},
	kVersion:  {"1.2.3", "2.0.0"},
	kRange:    {"^1.2.0", ">=1.0.0"},
	kPackage:  {"lodash", "express"},
	kPerson:   {"alex", "sam"},
	kName:     {"alpha", "garden", "river"},
	kTitle:    {"Quarterly report", "Garden project"},
	kTag:      {"project", "travel"},
	kID:       {"1", "2"},
	kToken:    {"abc123", "sample"},
	kJWT:      {unsigned},
	kMIME:     {"text/plain", "image/png"},
	kKey:      {"Enter", "Tab"},
	kUnit:     {"m", "kg"},
	kEncoding: {"utf-8"},
	kBase64:   {"aGVsbG8="},
	kChar:     {"a", "é"},
	kGeo:      {"51.5,-0.12"},
	kBranch:   {"main"},
	kNewName:  {"feature-notes", "draft-1", "draft-2"},
	kRevision: {"HEAD", "main"},
	kUUID:     {"3f2b8c1e-6d4a-4f7b-9a53-1c2d3e4f5a6b"},
	kModel:    {"default"},
	kProse:    sentences,
})

// withGrammars adds the values of all grammars.
func withGrammars(values map[kind][]string) map[kind][]string {
	for _, g := range grammars {
		if g.values != nil {
			values[g.kind] = g.values
		}
	}
	return values
}

// kindNumbers are the numbers that a kind suggests.
var kindNumbers = map[kind][]string{
	kLimit: {"3", "5", "1"}, kPage: {"1", "2"}, kOffset: {"0", "1"}, kPort: {"8080"}, kSeconds: {"1", "2"}, kMillis: {"500", "1000"},
	kLatitude: {"51.5"}, kLongitude: {"-0.12"}, kYear: {"2026"}, kMonth: {"3"}, kDay: {"14"}, kStamp: {"1773480600"}, kDateTime: {"1773480600"},
	kPixels: {"640", "480"}, kPercent: {"50", "0.5"}, kID: {"1", "2"}, kPrice: {"10", "25"},
}
