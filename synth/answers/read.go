package answers

import (
	"encoding/json"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
	"github.com/coalmine-dev/coalmine/synth/literals"
)

// read are the languages.
var read = []string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".py"}

// What is read of one source, and kept of it.
const (
	maxAnswers = 200
	maxBodies  = 256 << 10 // of all answers together
	maxFile    = 512 << 10
	maxRoots   = 400 // of one file
	maxScope   = 6 << 10
	maxBefore  = 2 << 10
	maxWords   = 8
	maxAliases = 60 // of one answer
)

// Read makes answers for the code below the root of fsys: one for each place that decodes
// an answer, in the order of the files, and the last for any address.
func Read(fsys fs.FS) []sinkhole.Fit {
	var out []sinkhole.Fit
	all, size := newShape(), 0
	var sources []source
	runsCode, names := false, []string(nil)
	literals.Files(fsys, func(name, text string) {
		if slices.Contains(read, path.Ext(name)) {
			own := text[max(0, len(text)-maxFile):] // a bundle ends with what it is for
			sources = append(sources, source{own, path.Ext(name) == ".py"})
			runsCode, names = runsCode || evaluates.MatchString(text), codeNames(own, names)
		}
	})
	fetchers := fetchersOf(sources)
	for _, src := range sources {
		for _, words := range programsOf(src.text, src.python) {
			if len(out) < maxAnswers {
				out = append(out, sinkhole.Fit{Words: words, Body: sinkhole.PlantedCode})
			}
		}
		for _, r := range rootsOf(src, fetchers) {
			if len(out) >= maxAnswers || r.shape.empty() {
				continue
			}
			if runsCode {
				r.shape.withCode("", names)
			}
			if body, err := json.Marshal(r.shape.render("")); err == nil && size+len(body) <= maxBodies {
				size += len(body)
				out = append(out, sinkhole.Fit{Words: r.words, Template: r.template, Body: string(body)})
			}
			if r.shape.kind == object {
				all.join(r.shape)
			}
		}
	}
	if !all.empty() {
		if body, err := json.Marshal(all.render("")); err == nil && len(body) <= maxBodies {
			out = append(out, sinkhole.Fit{Body: string(body)})
		}
	}
	return out
}

// join takes in the members of another object, those that are there already first.
func (s *shape) join(o *shape) {
	for name, m := range o.members {
		if have := s.members[name]; have != nil {
			if have.kind == object && m.kind == object {
				have.join(m)
			}
			continue
		}
		if s.member(name) != nil {
			s.members[name] = m
		}
	}
}

// source is a file of code.
type source struct {
	text   string
	python bool
}

// root is a place that decodes an answer.
type root struct {
	shape *shape
	words []string
	// template is the nearest path, with "{}" for what is put in.
	template string
}

const identifier = `[A-Za-z_$][\w$]*`

var (
	// assigned is what stands before a value that is given a name, or is taken apart.
	assigned = lazyregexp.New(`(?:^|[\s;{}(,\[])(` + identifier + `|\{[^{}]+\})\]?\s*(?::[^=:]+)?=\s*\(?(?:\s*await\s+)?[^=]*$`)
	// beforeFault is the answer where a function returns an error behind it.
	beforeFault = lazyregexp.New(`(` + identifier + `)\s*,\s*(?:err|error|e|ok|status|_)\]?\s*=[^=]*$`)
	// handsOver is what stands before the name of a function that another thread runs.
	handsOver = lazyregexp.New(`\b(?:to_thread|run_sync|run_in_threadpool)\(\s*$|\brun_in_executor\(\s*[\w.]{1,40}\s*,\s*$`)
	// client is what stands before the method of something that asks and decodes.
	client  = lazyregexp.New(`(?i)(?:axios|got|client|http|api|instance)[\w$.]*$`)
	defines = lazyregexp.New(`^\s*(?:export\s+)?(?:default\s+)?(?:public\s+|private\s+|static\s+)*(?:async\s+)?(?:def\s+|function\s+|const\s+)?(` + identifier + `)\s*(?:=\s*(?:async\s*)?)?(?:<[^>]+>)?\(`)
	address = lazyregexp.New("[\"'`]([^\"'`\\s]{2,200})[\"'`?]")
)

// decoders decode an answer; asking are the methods of clients that answer with what is
// decoded as their member data.
var (
	decoders = []string{".json()", "json.loads(", "JSON.parse(", "json.load(urllib.request.urlopen(", "json.load(urlopen(", "json.load(request.urlopen(", "json.load(r)", "json.load(res)", "json.load(resp)", "json.load(response)"}
	asking   = []string{".get(", ".post(", ".put(", ".patch(", ".request(", ".get<", ".post<"}
	notNames = []string{"if", "for", "while", "switch", "catch", "return", "await", "with", "elif", "function", "constructor", "main", "__init__"}
)

// awaited is what stands behind "await " where the first argument is an address.
var awaited = lazyregexp.New("^(?:[\\w$]+\\.)*([\\w$]+)(?:<[^>\n]+>)?\\(\\s*f?[\"'`](?:\\$?\\{[^}\n]+\\})?[^\"'`\\s]*/")

// files are functions that take paths of files, or whose answer is decoded later.
var files = lazyregexp.New(`^(?:fetch|open|import|exec|goto|(?:read|write|access|stat|mkdir|unlink|rename|copy).*)$`)

// maxStatement bounds what is looked at of the statement around a decoder.
const maxStatement = 300

// place is where a decoded answer is given a name, or a member of it is taken at once.
type place struct {
	// names are those that the answer gets, "" for none.
	names    string
	from, to int
	wrapped  bool // the answer is its member data
	// of is the body of the function that is called and decodes, "" for none.
	of   string
	asks bool // what asks, or its arguments, begin behind it
	// value is the whole expression where a member of it is taken at once.
	value span
}

// placesOf are the places of a file, in order.
func placesOf(src string, fetchers map[string]string) []place {
	var out []place
	find := func(word string, ok func(before, after string) bool, wrapped, asks bool, of string) {
		for at := 0; len(out) < 2*maxRoots; {
			i := strings.Index(src[at:], word)
			if i < 0 {
				return
			}
			at += i + len(word)
			end := at - len(word)
			from := max(0, end-maxStatement)
			from += strings.LastIndexAny(src[from:end], ";\n") + 1
			before := src[from:end]
			if !ok(before, src[at:min(len(src), at+maxStatement)]) {
				continue
			}
			p := place{from: from, to: at, wrapped: wrapped, asks: asks, of: of}
			if value, names := decodedAt(src, end, at); value.to > 0 {
				p.value, p.names, p.from = value, names, min(from, value.from)
			} else if m := beforeFault.FindStringSubmatch(before); m != nil {
				p.names = m[1]
			} else if m := assigned.FindStringSubmatch(before); m != nil {
				p.names = m[1]
			} else {
				continue
			}
			out = append(out, p)
		}
	}
	for _, d := range decoders {
		find(d, func(string, string) bool { return true }, false, false, "")
	}
	for _, a := range asking {
		find(a, func(before, _ string) bool { return client.MatchString(before) }, true, true, "")
	}
	for _, f := range slices.Sorted(maps.Keys(fetchers)) {
		find(f+"(", func(before, _ string) bool {
			_, method := methods[f]
			return before == "" || !inName(before[len(before)-1]) && (!method || !strings.HasSuffix(before, "."))
		}, false, true, fetchers[f])
		find(f+",", func(before, _ string) bool { return handsOver.MatchString(before) }, false, true, fetchers[f])
	}
	find("await ", func(before, after string) bool {
		m := awaited.FindStringSubmatch(after)
		return m != nil && !strings.HasSuffix(strings.TrimRight(before, "( "), "JSON.parse") && !files.MatchString(m[1]) && !client.MatchString(m[0][:strings.LastIndex(m[0], m[1])])
	}, false, true, "")
	slices.SortStableFunc(out, func(a, b place) int { return a.from - b.from })
	return out[:min(len(out), maxRoots)]
}

// rootsOf are the shapes that the places of one file expect.
func rootsOf(file source, fetchers map[string]string) []root {
	var out []root
	src := file.text
	places := placesOf(src, fetchers)
	for i, p := range places {
		end := min(len(src), p.to+maxScope)
		for _, q := range places[i+1:] {
			if q.from < end && q.names == p.names && p.names != "" {
				end = max(q.from, p.to)
				break
			}
		}
		r := root{shape: newShape()}
		answer := r.shape
		if p.wrapped {
			answer = &shape{kind: object, members: map[string]*shape{"data": r.shape}, left: new(int)}
		}
		s := scope{text: src[p.to:end], python: file.python}
		switch {
		case p.value.to == 0:
			s.bind(p.names, answer)
		case p.names != "":
			s = scope{text: src[p.value.to:max(end, p.value.to)], python: file.python}
			s.bind(p.names, answer)
		default:
			const line = "\n" // before which a name may stand
			s = scope{text: line + src[p.from:max(end, p.value.to)], python: file.python}
			s.use(answer, len(line)+p.value.from-p.from, len(line)+p.value.to-p.from)
		}
		s.read()
		line, _, _ := strings.Cut(src[p.to:min(len(src), p.to+maxStatement)], "\n")
		r.words = wordsOf(src[max(0, p.from-maxBefore) : p.to+len(line)])
		if r.template = templateOf(src[p.from : p.to+len(line)]); r.template == "" && p.asks {
			r.template = firstSegment(line)
		}
		if r.template == "" && p.of != "" {
			r.template = templateOf(p.of)
			r.words = append(r.words, wordsOf(p.of)...)
			r.words = r.words[max(0, len(r.words)-maxWords):]
		}
		out = append(out, r)
	}
	return out
}

// function is one of a file's, with its text up to the next one. top says that it is no method.
type function struct {
	name, body string
	top        bool
}

func functionsOf(src string) []function {
	var out []function
	begin := 0
	for at := 0; at < len(src) && len(out) < maxRoots; {
		line, _, _ := strings.Cut(src[at:], "\n")
		next := at + len(line) + 1
		if end := strings.TrimRight(line[:min(len(line), maxStatement)], " \t\r"); strings.HasSuffix(end, "{") || strings.HasSuffix(end, ":") || strings.HasSuffix(end, "=>") {
			if m := defines.FindStringSubmatch(end); m != nil && !slices.Contains(notNames, m[1]) {
				if len(out) > 0 {
					out[len(out)-1].body = src[begin:at]
				}
				out, begin = append(out, function{name: m[1], top: !strings.ContainsAny(end[:1], " \t")}), next
			}
		}
		at = next
	}
	if len(out) > 0 {
		out[len(out)-1].body = src[min(begin, len(src)):]
	}
	return out
}

// fetchersOf are the functions that return what they decode, or what such a function returns, with what is looked at
// of their bodies.
func fetchersOf(sources []source) map[string]string {
	var all []function
	for _, src := range sources {
		all = append(all, functionsOf(src.text)...)
	}
	out := map[string]string{}
	for _, f := range all {
		_, known := methods[f.name]
		if (!known || f.top) && len(f.name) > 2 && strings.Contains(f.body, "return") && slices.ContainsFunc(decoders, func(d string) bool { return strings.Contains(f.body, d) }) {
			out[f.name] = f.body[:min(len(f.body), maxBefore)]
		}
	}
	direct := slices.Sorted(maps.Keys(out))
	for _, f := range all {
		for _, d := range direct {
			if i := strings.Index(f.body, d+"("); i >= 0 && len(f.name) > 2 && returns.MatchString(f.body[max(0, i-40):i]) && len(out) < maxFetchers && out[f.name] == "" {
				out[f.name] = f.body[:min(len(f.body), maxBefore)]
			}
		}
	}
	return out
}

// maxFetchers bounds the functions that are looked for in all files.
const maxFetchers = 60

var returns = lazyregexp.New(`\breturn\s+(?:await\s+)?(?:this\.|self\.)?$`)

// filled is what a language puts into a text.
var filled = lazyregexp.New(`\$?\{[^{}]*\}|%[sd]`)

// agents are headers that name a program, and look like paths.
var agents = lazyregexp.New("(?i)user-agent[\"'`\\]]*\\s*[:=,]\\s*\\(?\\s*f?[\"'`][^\"'`\n]*[\"'`]")

// templateOf is the last path in a text of which two segments at least are there and one is written out, "" for none.
func templateOf(text string) string {
	out := ""
	for _, m := range address.FindAllStringSubmatch(agents.ReplaceAllString(text, ""), -1) {
		p, _, _ := strings.Cut(filled.ReplaceAllString(m[1], "{}"), "?")
		if _, after, ok := strings.Cut(p, "://"); ok {
			_, p, _ = strings.Cut(after, "/")
		}
		// What begins the path may be put in whole: a base, or a prefix.
		p = strings.Trim(strings.TrimPrefix(p, "{}/"), "/")
		if strings.Contains(p, "/") && !mediaType.MatchString(p) && strings.Trim(p, "{}/") != "" && !strings.ContainsAny(p, "<>()$\\,;") {
			out = p
		}
	}
	return out
}

// segment is a path of one segment that begins the arguments of what asks, whose name may stand before.
var segment = lazyregexp.New("^(?:[\\w$.]+\\()?\\s*[fF]?[\"'`]/?([\\w.-]{2,60})/?[?\"'`]")

// firstSegment is such a path, as in "get('states')", "" for none.
func firstSegment(arguments string) string {
	if m := segment.FindStringSubmatch(arguments); m != nil {
		return m[1]
	}
	return ""
}

var mediaType = lazyregexp.New(`^(?:application|text|image|audio|video|multipart)/`)

// wordsOf are the pieces of addresses in a text, the last ones.
func wordsOf(text string) []string {
	var out []string
	for _, m := range address.FindAllStringSubmatch(agents.ReplaceAllString(text, ""), -1) {
		for _, piece := range strings.FieldsFunc(strings.ReplaceAll(m[1], "${", "{"), func(r rune) bool { return r == '{' || r == '}' || r == '?' || r == '%' }) {
			_, after, ok := strings.Cut(piece, "://")
			if !ok {
				after = piece
			}
			if len(after) >= 4 && (strings.Contains(after, "/") || ok) && !mediaType.MatchString(after) && !strings.ContainsAny(after, "<>()$\\,;") {
				out = append(out, after)
			}
		}
	}
	return out[max(0, len(out)-maxWords):]
}
