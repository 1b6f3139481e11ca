package schema

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// kind is what a property means.
type kind uint8

const (
	kNone kind = iota
	kFile
	kNewFile
	kDir
	kNewDir
	kImage
	kRepo
	kRepoFile
	kURL
	kTimezone
	kLanguage
	kProgram
	kEmail
	kUUID
	kDateTime
	kDate
	kTime
	kStamp
	kBranch
	kNewName
	kRevision
	kOldText
	kQuery
	kRegex
	kGlob
	kCommand
	kCode
	kFunction
	kMath
	kCron
	kSQL
	kHTML
	kMarkdown
	kJSON
	kXML
	kMermaid
	kCSS
	kHost
	kPort
	kIP
	kCIDR
	kColor
	kCurrency
	kCountry
	kCity
	kVersion
	kRange
	kPackage
	kPerson
	kName
	kTitle
	kTag
	kID
	kToken
	kJWT
	kMIME
	kKey
	kUnit
	kEncoding
	kBase64
	kChar
	kGeo
	kModel
	kProse
	kLimit
	kPage
	kOffset
	kSeconds
	kMillis
	kLatitude
	kLongitude
	kYear
	kMonth
	kDay
	kPixels
	kPercent
	kPrice
	kIBAN
	kBitcoin
	kEthereum
	kBIC
	kISBN
	kCard
	kVIN
	kFEN
	kPGN
	kRRULE
	kGeoJSON
	kWKT
	kCURL
	kJQL
	kCypher
	kGraphQL
	kPromQL
	kJSONPath
	kJQ
	kXPath
	kSelector
	kHash
	kPhone
	kMAC
	kSymbol
	kISIN
	kZip
	kCVE
	kDOI
	kArxiv
	kCell
	kCells
	kSheet
	kDataURL
	kHTTPMethod
)

// meaning is what a property's name, format and description say.
type meaning struct {
	kind   kind
	words  []string
	loose  bool     // the last words of the name alone may be looked up
	said   []string // values that the description names
	text   string   // the description
	values []string // what to draw from
}

var nameMeaning = &meaning{kind: kName, values: kindValues[kName]}

// rule gives a kind to a name that holds one of its phrases.
type rule struct {
	kind    kind
	phrases []string
}

// rules are tried in order; a phrase is whole words in the singular.
var rules = append(grammarRules(), []rule{
	{kRepo, []string{"repo path", "repository path", "repo dir", "git repo", "git dir", "repository root", "repo root"}},
	{kTimezone, []string{"timezone", "time zone", "tz"}},
	{kMIME, []string{"mime", "mime type", "content type", "media type"}},
	{kUUID, []string{"uuid", "guid"}},
	{kEmail, []string{"email", "e mail", "recipient"}},
	{kOldText, []string{"old text", "old string", "old str", "search text", "old content", "find text"}},
	{kImage, []string{"image path", "image file", "media path", "photo path"}},
	{kURL, []string{"url", "uri", "href", "link", "endpoint", "website", "webhook"}},
	{kNewFile, []string{"output path", "output file", "destination path", "destination", "dest", "save path", "target path", "new path",
		"target file", "to path", "output", "dst"}},
	{kDir, []string{"directory", "dir", "folder", "cwd", "workspace", "root", "project path", "working directory", "project root", "theme path", "root path"}},
	{kFile, []string{"path", "file", "filename", "file path", "filepath", "file name", "source", "src", "attachment", "document path"}},
	{kBranch, []string{"branch", "branch name", "base branch"}},
	{kRevision, []string{"revision", "commit", "sha", "ref", "commit sha", "commit hash", "rev"}},
	{kProgram, []string{"language id", "programming language", "runtime", "interpreter"}},
	{kLanguage, []string{"language", "lang", "locale", "language code"}},
	{kStamp, []string{"unix", "epoch"}},
	{kDateTime, []string{"datetime", "date time", "timestamp", "start time", "end time", "created at", "updated at", "due at", "due date time"}},
	{kDate, []string{"date", "date2", "day date", "checkin", "checkout", "check in", "check out", "since", "until", "deadline", "due", "birthday"}},
	{kSeconds, []string{"timeout", "duration", "delay", "wait", "interval", "second", "ttl"}},
	{kMillis, []string{"millisecond", "ms", "timeout ms", "delay ms"}},
	{kTime, []string{"time", "hour"}},
	{kRegex, []string{"regex", "regexp", "regular expression"}},
	{kGlob, []string{"glob", "pattern", "exclude pattern", "include pattern", "ignore", "include", "exclude"}},
	{kCommand, []string{"command", "cmd", "shell", "shell command"}},
	{kCron, []string{"cron", "schedule"}},
	{kSQL, []string{"sql", "statement", "sql query"}},
	{kHTML, []string{"html"}},
	{kMarkdown, []string{"markdown", "md"}},
	{kMermaid, []string{"mermaid", "diagram"}},
	{kJSON, []string{"json", "payload"}},
	{kXML, []string{"xml", "svg"}},
	{kCSS, []string{"css", "stylesheet"}},
	{kFunction, []string{"function"}},
	{kCode, []string{"code", "script", "snippet", "source code"}},
	{kMath, []string{"expression", "formula", "equation"}},
	{kCIDR, []string{"cidr", "subnet"}},
	{kIP, []string{"ip", "ip address", "ipv4"}},
	{kHost, []string{"host", "hostname", "domain", "server"}},
	{kPort, []string{"port"}},
	{kLimit, []string{"limit", "max result", "count", "max count", "per page", "page size", "top k", "num result", "head", "tail", "top", "n",
		"max", "size", "amount", "quantity", "step", "adult", "length", "max length", "depth"}},
	{kPage, []string{"page", "page number", "line", "page id", "row", "column"}},
	{kOffset, []string{"offset", "index", "skip", "start index", "page idx", "cursor index", "character", "position"}},
	{kLatitude, []string{"latitude", "lat"}},
	{kLongitude, []string{"longitude", "lon", "lng", "long"}},
	{kGeo, []string{"geolocation", "coordinate"}},
	{kYear, []string{"year"}},
	{kMonth, []string{"month"}},
	{kDay, []string{"day"}},
	{kPixels, []string{"width", "height"}},
	{kPercent, []string{"percent", "percentage", "ratio", "opacity", "temperature"}},
	{kPrice, []string{"price", "cost", "min price", "max price"}},
	{kColor, []string{"color", "colour"}},
	{kCurrency, []string{"currency"}},
	{kCountry, []string{"country", "region"}},
	{kCity, []string{"city", "location", "place", "address", "town"}},
	{kVersion, []string{"version", "version2", "semver"}},
	{kRange, []string{"range"}},
	{kPackage, []string{"package", "library", "library name", "module", "dependency"}},
	{kBase64, []string{"base64"}},
	{kEncoding, []string{"encoding", "charset"}},
	{kUnit, []string{"unit"}},
	{kChar, []string{"char"}},
	{kModel, []string{"model"}},
	{kJWT, []string{"jwt", "json web token"}},
	{kToken, []string{"token", "secret", "password", "api key", "access key"}},
	{kKey, []string{"key", "shortcut"}},
	{kPerson, []string{"user", "username", "author", "owner", "assignee", "user name"}},
	{kTag, []string{"tag", "label", "category", "topic", "type"}},
	{kNewName, []string{"new name"}},
	{kTitle, []string{"title", "subject", "heading"}},
	{kQuery, []string{"query", "search", "keyword", "term", "q", "question", "filter", "search query"}},
	{kID, []string{"id", "identifier", "uid", "number"}},
	{kProse, []string{"message", "text", "content", "body", "description", "prompt", "comment", "note", "thought", "observation", "summary",
		"input", "problem", "task", "reason", "feedback", "new text", "string", "paragraph"}},
	{kName, []string{"name", "slug", "entity"}},
}...)

// meaningOf reads a property: what it is called, what it says of itself, and
// what the tool is for.
func (g *Generator) meaningOf(name string, n *node) *meaning {
	ws := words(name)
	desc, format := g.saidOf(name, n.set)
	m := &meaning{words: ws, loose: len(ws) <= 3, said: said(desc), text: desc}
	m.kind = classify(ws, strings.ToLower(desc), format)
	g.inContext(m, words(g.opts.Tool), strings.ToLower(desc))
	m.values = g.valuesOf(m, strings.ToLower(desc))
	return m
}

// saidOf is what a property's schemas say of it, or the tool's description, and its format.
func (g *Generator) saidOf(name string, set []*jsonschema.Schema) (desc, format string) {
	desc, format = g.described(set, 0)
	if desc == "" {
		desc = documented(g.opts.Description, name)
	}
	return desc, format
}

// described is the first description and format of a set and of what it refers to.
func (g *Generator) described(set []*jsonschema.Schema, depth int) (desc, format string) {
	for _, s := range set {
		d := s.Description
		if d == "" {
			d, _ = g.raw(s, "description").(string)
		}
		f, _ := g.raw(s, "format").(string)
		if (d == "" || f == "") && depth < 4 {
			next := append([]*jsonschema.Schema{s.Ref}, s.AllOf...)
			next = append(next, s.AnyOf...)
			if one, ok := s.Items.(*jsonschema.Schema); ok {
				next = append(next, one)
			}
			dd, ff := g.described(present(append(next, s.Items2020)), depth+1)
			d, f = first2(d, dd), first2(f, ff)
		}
		desc, format = first2(desc, d), first2(format, f)
	}
	if len(desc) > 2000 {
		desc = strings.ToValidUTF8(desc[:2000], "")
	}
	return desc, format
}

func present(list []*jsonschema.Schema) []*jsonschema.Schema {
	var out []*jsonschema.Schema
	for _, s := range list {
		if s != nil && len(out) < 8 {
			out = append(out, s)
		}
	}
	return out
}

func first2(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func said(desc string) []string {
	list := exampled(desc)
	for _, s := range quoted(desc) {
		if !slices.Contains(list, s) {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		list = listed(desc)
	}
	return list
}

var formatKinds = map[string]kind{"uri": kURL, "url": kURL, "iri": kURL, "email": kEmail, "uuid": kUUID, "date": kDate, "date-time": kDateTime,
	"path": kFile, "file-path": kFile, "directory-path": kDir, "hostname": kHost, "ipv4": kIP, "regex": kRegex, "color": kColor, "timezone": kTimezone}

// classify finds the rule whose phrase ends the name, else one that it holds.
func classify(ws []string, desc, format string) kind {
	if k, ok := formatKinds[format]; ok {
		return k
	}
	name := " " + strings.Join(ws, " ") + " "
	best, most := kNone, 0
	for _, r := range rules {
		for _, p := range r.phrases {
			if len(p) > most && strings.HasSuffix(name, " "+p+" ") {
				best, most = r.kind, len(p)
			}
		}
	}
	if best != kNone {
		return best
	}
	for _, r := range rules {
		for _, p := range r.phrases {
			if strings.Contains(name, " "+p+" ") {
				return r.kind
			}
		}
	}
	return byDescription(desc)
}

// byDescription looks for what a description says plainly.
func byDescription(desc string) kind {
	for _, c := range []struct {
		text string
		kind kind
	}{{"file path", kFile}, {"path to the file", kFile}, {"path to a file", kFile}, {"directory", kDir}, {"url", kURL}, {"http://", kURL}, {"https://", kURL}, {"web address", kURL}, {"iso 8601", kDateTime},
		{"timezone", kTimezone}, {"email address", kEmail}, {"search query", kQuery}, {"regular expression", kRegex}, {"name of the", kName}} {
		if strings.Contains(desc, c.text) {
			return c.kind
		}
	}
	return kNone
}

// number draws a number that the meaning suggests and the range allows.
func (m *meaning) number(d *drawer, n *numeric) (json.Number, bool) {
	list := kindNumbers[m.kind]
	if d.class == Learned {
		for _, s := range slices.Backward(d.g.opts.Hints.Dictionary.strings(m)) {
			if r, ok := ratText(s); ok && n.allows(r) {
				return json.Number(s), true
			}
		}
	}
	if len(list) == 0 {
		return "", false
	}
	start := 0
	if d.class != TypicalRequired {
		start = d.rng.Intn(len(list))
	}
	for i := range list {
		s := list[(start+i)%len(list)]
		if r, ok := ratText(s); ok && n.allows(r) {
			return json.Number(s), true
		}
	}
	return "", false
}
