package handout

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

var (
	// senders are the programs that send what they are given.
	senders = set("curl wget http https xh nc ncat netcat socat telnet openssl dig nslookup host scp rsync sftp ftp ssh curlie aria2c")
	// readers are those that print or keep the files that they are given.
	readers = set("cat tac tar base64 zip gzip bzip2 xz xxd od hexdump openssl head tail grep awk sed cp jq cut tr sort strings dd find less more xargs bat 7z python python3 node gpg")
	copiers = set("cp tar zip gzip base64 dd 7z gpg openssl")
	// silent are those that print nothing of it.
	silent = set("wc true false test rm mkdir chmod chown touch ls cd ssh-add ssh-keygen source . docker npm yarn pnpm pip twine git gh helm terraform mvn gradle cargo go make")
	shells = set("sh bash dash zsh ksh eval")
	// valued are options of senders that are followed by a value which is no destination.
	valued = set("-H --header -d --data --data-raw --data-binary --data-urlencode --data-ascii --json -F --form --form-string -u --user -o --output -X --request -A --user-agent -b --cookie -c --cookie-jar -T --upload-file -e --referer -m --max-time --connect-timeout --retry -w --write-out -x --proxy -i -p -P -O --oauth2-bearer --post-data --post-file --body-data --body-file --method --cacert --cert --key -E -K --config")
	// logins are options that give credentials where the protocol has them.
	logins = set("-H --header -u --user --oauth2-bearer -b --cookie --http-user --http-password --password -a --auth")
)

// helpers are commands that print credentials.
var helpers = lazyregexp.New(`^(?:gh auth token|gh auth status .*-t|gcloud auth (?:print-\S+|application-default print-access-token)|aws configure (?:get|export-credentials)|git credential fill|security find-\S+-password|kubectl get secrets?|kubectl config view .*--raw|op read|pass show|az account get-access-token|vault (?:kv get|print token)|npm token|docker-credential-\S+ get)\b`)

// called is the secret in what a call comes to.
func (f *flow) called(c lang.Call) (s secret) {
	if f.language != shellCode {
		return f.calledFunction(c)
	}
	program := dotted(c.Func)
	if i := strings.LastIndexByte(program, '/'); i >= 0 {
		program = program[i+1:]
	}
	var words []string
	for _, a := range c.Args {
		words = append(words, word(a.Value))
	}
	switch {
	case program == "printenv", program == "env", program == "set", program == "export", program == "declare", program == "typeset":
		return ofEnvironment(program, words)
	case program == "sudo" && len(c.Args) > 0:
		if k, ok := c.Args[0].Value.(lang.Const); ok {
			return f.called(lang.Call{Span: c.Span, Func: lang.Name{ID: k.Text}, Args: c.Args[1:]})
		}
	case helpers.MatchString(program + " " + strings.Join(words, " ")):
		return ofHelper(program, words)
	case silent[program] || senders[program] && program != "openssl":
		return s
	}
	for i, a := range c.Args {
		s = worse(s, f.value(a.Value))
		if !readers[program] {
			continue
		}
		file := worse(ofFile(pathWord(a.Value)), f.vars[words[i]])
		if !file.none() && pickers[program] {
			file.name = oneEntry
		}
		s = worse(s, file)
	}
	return s
}

// oneEntry stands for the name of a single credential that is not known.
const oneEntry = "CREDENTIAL"

// pickers are the programs that take one entry out of a file.
var pickers = set("grep awk sed jq yq")

// ofHelper is what a command prints that shows credentials. That of a cluster may have many.
func ofHelper(program string, words []string) secret {
	s := secret{what: "the credentials that " + program + " prints", name: oneEntry}
	switch {
	case program == "gh":
		s.name = "GITHUB_TOKEN"
	case program == "kubectl" && len(words) < 3:
		s.name = ""
	}
	return s
}

// ofEnvironment is what the commands print that show variables.
func ofEnvironment(program string, words []string) secret {
	var rest []string
	for _, w := range words {
		if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
			rest = append(rest, w)
		}
	}
	switch {
	case program == "printenv" && len(rest) > 0:
		return ofName(rest[0])
	case len(rest) > 0, (program == "export" || program == "declare" || program == "typeset") && len(words) > 0 && !slices.Contains(words, "-p") && !slices.Contains(words, "-x"), program == "set" && len(words) > 0:
		return secret{}
	}
	return secret{what: wholeEnvironment}
}

// shellOperation is what a pipe, a substitution or a redirection comes to.
func (f *flow) shellOperation(x lang.Operation) (s secret) {
	if strings.Contains(x.Op, ">") && x.Op != "<()" {
		return s // it went into a file
	}
	for i, o := range x.Operands {
		c, isCall := o.(lang.Call)
		switch {
		case x.Op == "|" && isCall && (senders[dotted(c.Func)] || silent[dotted(c.Func)]):
			s = f.value(o) // what went in does not come out
		case strings.HasPrefix(x.Op, "<") && x.Op != "<()" && i > 0:
			if s = worse(s, f.value(o)); s.none() {
				s = worse(ofFile(pathWord(o)), f.vars[word(o)])
			}
		default:
			s = worse(s, f.value(o))
		}
	}
	return s
}

// check judges one node of a script.
func (f *flow) check(n lang.Node) {
	switch n := n.(type) {
	case lang.Call:
		if f.language == shellCode {
			f.checkCommand(n)
		} else {
			f.checkCall(n)
		}
	case lang.Operation:
		if f.language == shellCode {
			f.checkOperation(n)
		}
	}
}

// checkOperation judges what reaches a sender through a pipe or a redirection.
func (f *flow) checkOperation(x lang.Operation) {
	if x.Op == "|" {
		var s secret
		for _, o := range flattened(x) {
			c, ok := callIn(o)
			if ok && senders[dotted(c.Func)] {
				f.tell(s, dotted(c.Func), f.destination(c))
				s = secret{}
				continue
			}
			if ok && silent[dotted(c.Func)] {
				s = secret{}
			}
			s = worse(s, f.value(o))
		}
		return
	}
	if len(x.Operands) != 2 {
		return
	}
	if target := word(x.Operands[1]); strings.Contains(x.Op, ">") && (strings.HasPrefix(target, "/dev/tcp/") || strings.HasPrefix(target, "/dev/udp/")) {
		host, _, _ := strings.Cut(target[len("/dev/tcp/"):], "/")
		f.tell(f.value(x.Operands[0]), "/dev/tcp", host)
		return
	}
	if c, ok := callIn(x.Operands[0]); ok && strings.HasPrefix(x.Op, "<") && senders[dotted(c.Func)] {
		s := f.value(x.Operands[1])
		s = worse(s, worse(ofFile(pathWord(x.Operands[1])), f.vars[word(x.Operands[1])]))
		f.tell(s, dotted(c.Func), f.destination(c))
	}
}

// flattened are the commands of a pipe in their order.
func flattened(x lang.Operation) (out []lang.Expr) {
	for _, o := range x.Operands {
		if inner, ok := o.(lang.Operation); ok && inner.Op == "|" {
			out = append(out, flattened(inner)...)
			continue
		}
		out = append(out, o)
	}
	return out
}

// callIn is the command in an expression with redirections.
func callIn(x lang.Expr) (lang.Call, bool) {
	for range 8 {
		switch n := x.(type) {
		case lang.Call:
			return n, true
		case lang.Operation:
			if len(n.Operands) == 0 || n.Op == "|" {
				return lang.Call{}, false
			}
			x = n.Operands[0]
		default:
			return lang.Call{}, false
		}
	}
	return lang.Call{}, false
}

// checkCommand judges what a sender is given, and code that a shell is given.
func (f *flow) checkCommand(c lang.Call) {
	program := dotted(c.Func)
	program = program[strings.LastIndexByte(program, '/')+1:]
	if shells[program] {
		for _, a := range c.Args {
			if w := word(a.Value); strings.ContainsAny(w, " |") {
				f.nested(w)
			}
		}
	}
	if !senders[program] {
		return
	}
	var sent secret
	option := ""
	for _, a := range c.Args {
		w := spelled(a.Value)
		s := f.value(a.Value)
		if path := ofFile(pathWord(a.Value)); !path.none() && readsFile(program, option, w) {
			s = worse(s, path)
		}
		if name, ok := strings.CutPrefix(w, "@"); ok || option == "-T" || option == "--upload-file" || strings.Contains(w, "=@") {
			if i := strings.Index(w, "=@"); i >= 0 {
				name = w[i+2:]
			}
			s = worse(s, f.vars[name])
		}
		long, _, _ := strings.Cut(w, "=")
		s.login = !s.none() && (s.login || logins[option] || strings.HasPrefix(w, "--") && logins[long] || strings.Contains(w, "://"))
		sent = worse(sent, s)
		option = w
	}
	f.tell(sent, program, f.destination(c))
}

// readsFile reports whether a sender reads the file that a word names, and does not write it.
func readsFile(program, option, w string) bool {
	switch program {
	case "curl":
		return strings.HasPrefix(w, "@") || strings.Contains(w, "=@") || strings.Contains(w, "=<") || option == "-T" || option == "--upload-file"
	case "wget":
		return strings.HasPrefix(w, "--post-file") || strings.HasPrefix(w, "--body-file")
	case "scp", "rsync", "http", "https":
		return !strings.HasPrefix(option, "-i") && !strings.HasPrefix(option, "-e")
	}
	return false
}

// authority is the host of an address; a part of it that is not known is a NUL.
var authority = lazyregexp.New(`(?i)\b(?:https?|ftps?|wss?|tcp)://([^\s/?#"'\\]+)`)

// bareHost is a host that stands without a scheme, with what follows it.
var bareHost = lazyregexp.New(`^(?:[\w.-]+@)?((?:[A-Za-z0-9\x00-]+\.)+[A-Za-z]{2,}|\d{1,3}(?:\.\d{1,3}){3})(?:[:/?].*)?$`)

// peer is the host and port of socat and openssl.
var peer = lazyregexp.New(`(?i)^(?:(?:tcp4?|tcp6|openssl|udp)(?:-connect)?:)?([\w.-]+\.[A-Za-z]{2,}|\d{1,3}(?:\.\d{1,3}){3}):\d+`)

// hostIn is the host of the first address in a text.
func hostIn(s string) string {
	m := authority.FindStringSubmatch(s)
	if m == nil {
		return ""
	}
	return knownHost(m[1])
}

// knownHost is a host without what is not known: the part behind it names its owner.
func knownHost(a string) string {
	a = a[strings.LastIndexByte(a, '@')+1:]
	if i := strings.LastIndexByte(a, ':'); i > 0 && !strings.HasSuffix(a, "]") {
		a = a[:i]
	}
	labels := strings.Split(a, ".")
	for i, l := range slices.Backward(labels) {
		if strings.ContainsAny(l, "\x00${}") {
			labels = labels[i+1:]
			break
		}
	}
	if len(labels) < 2 {
		return ""
	}
	return strings.Join(labels, ".")
}

// destination is the host that a command sends to, "" for one that is not known.
func (f *flow) destination(c lang.Call) string {
	program := dotted(c.Func)
	option := ""
	for _, a := range c.Args {
		w := f.word(a.Value)
		follows := valued[option]
		if program == "nc" || program == "ncat" || program == "netcat" || program == "dig" || program == "scp" || program == "rsync" {
			follows = option == "-w" || option == "-i"
		}
		option = w
		switch {
		case follows:
			continue
		case authority.MatchString(w) && !strings.HasPrefix(w, "-"), strings.HasPrefix(w, "--url=") && authority.MatchString(w):
			return hostIn(w)
		case strings.HasPrefix(w, "-"):
			continue
		}
		if m := peer.FindStringSubmatch(w); m != nil && (program == "socat" || program == "openssl") {
			return m[1]
		}
		if m := bareHost.FindStringSubmatch(w); m != nil && program != "openssl" {
			return knownHost(m[1])
		}
	}
	return ""
}

// word is a word without what is not known, which is a NUL. A variable that is one text is that.
func (f *flow) word(x lang.Expr) string {
	switch x := x.(type) {
	case lang.Const:
		if x.Kind == lang.String || x.Kind == lang.Bytes {
			return standIn.ReplaceAllString(x.Text, "\x00")
		}
	case lang.Name:
		return f.texts[x.ID]
	case lang.Template:
		var b strings.Builder
		for _, p := range x.Parts {
			if w := f.word(p); w != "" {
				b.WriteString(w)
			} else {
				b.WriteByte(0)
			}
		}
		return b.String()
	case lang.Operation:
		if x.Op == "+" {
			return f.word(lang.Template{Parts: x.Operands})
		}
	}
	return ""
}

// word is a word that is a constant, "" for others.
func word(x lang.Expr) string {
	if k, ok := x.(lang.Const); ok {
		return k.Text
	}
	return ""
}

// spelled is a word with the names of its variables, as it is written.
func spelled(x lang.Expr) string {
	switch x := x.(type) {
	case lang.Const:
		return x.Text
	case lang.Name:
		return "$" + x.ID
	case lang.Template:
		var b strings.Builder
		for _, p := range x.Parts {
			b.WriteString(spelled(p))
		}
		return b.String()
	}
	return ""
}

// pathWord is a word that may name a file: "$HOME/.ssh/id_rsa".
func pathWord(x lang.Expr) string { return strings.Replace(spelled(x), "$HOME", "~", 1) }

var (
	// prompt is what stands before a command in a text for people.
	prompt = lazyregexp.New("^[ \t]*(?:[-*][ \t]+|\\d+[.)][ \t]+|[$>%][ \t]+|RUN[ \t]+)?(.*)$")
	// command is where a command begins in a line of prose.
	command = lazyregexp.New("(?:^|[\\s`:(])((?:sudo[ ]+)?(?:env|printenv|export|declare|cat|tar|base64|curl|wget|nc|ncat|netcat|socat|scp|rsync|dig|bash|sh|echo|printf|gh|[A-Za-z_]\\w*=)[ |=$\"'].*|env\\b.*)$")
	// inline is code within a line of Markdown.
	inline = lazyregexp.New("`([^`\n]{4,1000})`")
)

// commandLines are the lines of a text that are commands, where the whole text is no script.
func commandLines(text string) string {
	text = strings.ReplaceAll(text, "\\\n", " ")
	var out []string
	for _, l := range strings.Split(text, "\n") {
		if m := inline.FindAllStringSubmatch(l, 20); m != nil {
			for _, code := range m {
				out = appendCommand(out, code[1])
			}
			continue
		}
		l = prompt.FindStringSubmatch(strings.TrimRight(l, "\r"))[1]
		if m := command.FindStringSubmatch(l); m != nil {
			out = appendCommand(out, m[1])
		}
	}
	return strings.Join(out, "\n")
}

// appendCommand adds a line that is a script by itself.
func appendCommand(list []string, line string) []string {
	if len(list) > 2000 || len(parse(shellCode, line).Unread) > 0 {
		return list
	}
	return append(list, line)
}
