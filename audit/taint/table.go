package taint

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// effect is what a sink does with its arguments.
type effect string

// The effects of the table.
const (
	toShell   effect = "shell"   // a shell runs the argument
	toRun     effect = "run"     // Python's subprocess: a list, or a text for a shell
	toSpawn   effect = "spawn"   // JavaScript's spawn: a program, its arguments, options
	toArgv    effect = "argv"    // all arguments are a program and its arguments
	toPath    effect = "path"    // the argument is a path
	toRequest effect = "request" // the argument says where a request goes
	toCode    effect = "code"    // the argument is run as code
	toObject  effect = "object"  // the argument is made into objects
	toSQL     effect = "sql"     // the argument is a statement
	// toSelector: the argument chooses or changes documents of a database
	toSelector effect = "selector"
)

var effects = []effect{toShell, toRun, toSpawn, toArgv, toPath, toRequest, toCode, toObject, toSQL, toSelector}

// sink is an entry of the table.
type sink struct {
	effect effect
	// at are positions, keywords the names of arguments.
	at       []int
	keywords []string
	// self is set for the receiver. from is the first position where all that follow count, -1 for none.
	self bool
	from int
	// method is set where the name is that of a method of anything.
	method bool
}

//go:embed table.txt
var tableText string

// table is by language and name. It is read at its first use.
var table = sync.OnceValue(func() map[string]sink {
	t, err := parseTable(tableText)
	if err != nil {
		panic(err) // the tests read the embedded table too
	}
	return t
})

// parseTable reads lines "language effect: name:arguments…".
func parseTable(text string) (map[string]sink, error) {
	t := map[string]sink{}
	err := sinks.ReadTable(text, []string{"Python", "JavaScript", "Go"}, func(language, what string, words []string) error {
		if !slices.Contains(effects, effect(what)) {
			return fmt.Errorf("%q is not an effect", what)
		}
		for _, word := range words {
			name, args, _ := strings.Cut(word, ":")
			s := sink{effect: effect(what), from: -1, method: strings.HasPrefix(name, "*.")}
			s.arguments(args)
			if _, there := t[language+" "+name]; there {
				return fmt.Errorf("%s is there twice", name)
			}
			t[language+" "+name] = s
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("taint: %w", err)
	}
	return t, nil
}

func (s *sink) arguments(list string) {
	if list == "" {
		list = "0"
	}
	for a := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(strings.TrimSuffix(a, "+"))
		switch {
		case err == nil && strings.HasSuffix(a, "+"):
			s.from = n
		case err == nil:
			s.at = append(s.at, n)
		case a == "self":
			s.self = true
		case a == "all":
			s.from = 0
		default:
			s.keywords = append(s.keywords, a)
		}
	}
}

// sinkOf finds the entry for a canonical name, or for a method of anything unknown.
func sinkOf(language, name string, anything bool) (sink, bool) {
	if s, ok := table()[language+" "+name]; ok {
		return s, true
	}
	if i := strings.LastIndexByte(name, '.'); i >= 0 && anything {
		s, ok := table()[language+" *"+name[i:]]
		return s, ok
	}
	return sink{}, false
}

// keeps are functions whose result comes from their arguments. The result of any other
// function of a library is nothing that the caller supplied.
var keeps = set(`
	str repr ascii bytes bytearray format list tuple set frozenset dict sorted reversed iter next enumerate zip map filter min max sum copy.copy copy.deepcopy os.fspath os.fsencode os.fsdecode
	json.loads json.dumps json.load yaml.safe_load yaml.safe_dump ast.literal_eval html.unescape html.escape base64.b64decode base64.b64encode base64.urlsafe_b64decode base64.standard_b64decode base64.decodebytes base64.b32decode bytes.fromhex bytearray.fromhex binascii.unhexlify binascii.a2b_hex binascii.a2b_base64 codecs.decode codecs.encode zlib.decompress gzip.decompress io.BytesIO io.StringIO textwrap.dedent textwrap.fill urllib.parse.unquote urllib.parse.unquote_plus urllib.parse.urlparse urllib.parse.urlsplit urllib.parse.urljoin urllib.parse.urlunparse urllib.parse.parse_qs string.Template sqlalchemy.text
	yarl.URL httpx.URL urllib.request.Request typing.cast cast unicodedata.normalize re.sub shlex.split shlex.join asyncio.to_thread asyncio.wait_for asyncio.gather asyncio.shield
	String Array.from Array.of Object.assign Object.values Object.entries Object.keys Object.fromEntries Object.freeze structuredClone JSON.parse JSON.stringify Buffer.from atob btoa unescape escape decodeURIComponent decodeURI URL URLSearchParams Promise.resolve Promise.all url.parse url.fileURLToPath url.pathToFileURL util.format querystring.parse Request Set Map Array lodash.merge String.raw URL.createObjectURL TextEncoder.encode TextDecoder.decode
	fmt.Sprintf fmt.Sprint fmt.Sprintln fmt.Appendf strings.TrimSpace strings.Trim strings.TrimPrefix strings.TrimSuffix strings.TrimLeft strings.TrimRight strings.ToLower strings.ToUpper strings.Replace strings.ReplaceAll strings.Split strings.SplitN strings.Fields strings.Join strings.Cut strings.Title strings.Repeat strings.NewReader bytes.NewReader bytes.NewBufferString bytes.NewBuffer encoding/json.Unmarshal encoding/json.Marshal encoding/base64.StdEncoding.DecodeString encoding/base64.URLEncoding.DecodeString encoding/hex.DecodeString net/url.Parse net/url.ParseRequestURI net/url.PathUnescape net/url.QueryUnescape append slices.Concat string []byte []string any strings.Clone html.UnescapeString net.JoinHostPort
`)

// keepMethods are methods whose result comes from the receiver, and from the arguments.
var keepMethods = set(`
	strip lstrip rstrip lower upper title capitalize casefold swapcase replace removeprefix removesuffix split rsplit splitlines partition rpartition join format format_map encode decode expandtabs ljust rjust zfill center translate copy items values keys get pop setdefault update read readlines getvalue model_dump dict json as_posix with_suffix with_name with_stem expanduser absolute joinpath geturl _replace substitute safe_substitute __str__ popitem tolist
	trim trimStart trimEnd toLowerCase toUpperCase toString valueOf slice substring substr concat replaceAll at charAt padStart padEnd repeat normalize reverse sort flat flatMap map filter find reduce reduceRight forEach entries shift splice fill match matchAll then catch finally toJSON toISOString bind href digest hexdigest parse safeParse parseAsync safeParseAsync parseAsyncOrThrow unwrap
	String Text Bytes GetString GetArguments RequireString GetStringSlice RequireStringSlice ParseString JoinPath Clone Elem WithContext GetRawArguments BindArguments DecodeString
`)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for w := range strings.FieldsSeq(words) {
		out[w] = true
	}
	return out
}

// ends are functions whose result is harmless for some classes.
var ends = map[string]class{
	"shlex.quote": command | argument, "pipes.quote": command | argument, "shlex.join": command, "shell-quote.quote": command, "shell-escape": command, "shescape.quote": command, "github.com/alessio/shellescape.Quote": command, "github.com/kballard/go-shellquote.Join": command,
	"os.path.basename": pathname, "ntpath.basename": pathname, "path.basename": pathname, "path/filepath.Base": pathname, "path.Base": pathname, "werkzeug.utils.secure_filename": all &^ statement, "sanitize-filename": pathname, "slugify": all &^ code, "slugify.slugify": all &^ code, "github.com/cyphar/filepath-securejoin.SecureJoin": pathname, "werkzeug.utils.safe_join": pathname, "werkzeug.security.safe_join": pathname,
	"encodeURIComponent": request | pathname, "urllib.parse.quote_plus": request | pathname | command | statement, "urllib.parse.quote": request | command | statement, "urllib.parse.urlencode": request | command, "net/url.QueryEscape": request | pathname | command | statement, "net/url.PathEscape": request, "querystring.escape": request | pathname, "querystring.stringify": request,
	"psycopg2.sql.Identifier": statement, "psycopg2.sql.Literal": statement, "psycopg.sql.Identifier": statement, "psycopg.sql.Literal": statement, "mysql.escape": statement, "mysql2.escape": statement, "mysql.escapeId": statement, "mysql2.escapeId": statement, "sqlstring.escape": statement, "sqlstring.escapeId": statement, "pg-format": statement, "github.com/lib/pq.QuoteIdentifier": statement, "github.com/lib/pq.QuoteLiteral": statement,
}

// endMethods are methods whose result is harmless for some classes.
var endMethods = map[string]class{"escapeIdentifier": statement, "escapeLiteral": statement, "escapeId": statement, "quote_ident": statement}

// whole are the words of parameters' names that say what the caller chooses.
var whole = map[class]map[string]bool{
	command:   set("command commands cmd cmds shell script scripts bash line program executable binary exec args argv code"),
	argument:  set("command commands cmd shell script bash args argv arguments options flags program executable binary params"),
	pathname:  set("path paths file files filename filenames filepath filepaths dir dirs directory directories folder folders root cwd workspace project repo repository location dest destination src source target input output in out image images video audio document pdf csv excel workbook sheet db database log save"),
	request:   set("url urls uri uris link links href endpoint host hostname domain address server website site page feed webhook base image src source ip target origin host_port"),
	code:      set("code script scripts source python javascript js py program snippet cell sql function fn module template"),
	statement: set("query queries sql statement statements command ddl dml"),
	selector:  set("filter filters query queries selector pipeline where criteria conditions match update updates document documents doc"),
}

// words splits a parameter's name: "outputDir" is output and dir.
func words(name string) []string {
	var out []string
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			out = append(out, strings.ToLower(b.String()))
			b.Reset()
		}
	}
	lower := false
	for _, r := range name {
		switch {
		case r >= 'A' && r <= 'Z':
			if lower {
				flush()
			}
			b.WriteRune(r)
			lower = false
		case r >= 'a' && r <= 'z':
			b.WriteRune(r)
			lower = true
		default:
			flush()
			lower = false
		}
	}
	flush()
	return out
}

// says reports whether a parameter's name says that the caller chooses the whole thing.
func says(origin string, c class) bool {
	last := origin[strings.LastIndexByte(origin, '.')+1:]
	return slices.ContainsFunc(words(last), func(w string) bool { return whole[c][w] })
}
