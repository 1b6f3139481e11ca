package handout

import (
	"bytes"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// Leak is a place in code that sends a secret.
type Leak struct {
	// Secret names what is sent: "all secrets of the repository", "$NPM_TOKEN", "~/.ssh/id_rsa".
	Secret string
	// Via is the program or function that sends it, and Host who gets it.
	Via, Host string
	// Sure says that what is sent is no single credential that the host may have issued.
	Sure bool
}

// maxCode bounds what is read of a text, and maxLeaks what is told.
const (
	maxCode  = 256 << 10
	maxLeaks = 20
)

// sends are the words of code that sends something, and reads those of code that takes a secret. A
// text without one of each is not read further.
var (
	sends = lazyregexp.New(`(?i)\b(?:curl|wget|nc|ncat|netcat|socat|https?|xh|dig|nslookup|scp|rsync|sftp|telnet|openssl|iwr|irm|invoke-webrequest|invoke-restmethod|fetch|requests|urllib|urlopen|httpx|axios|got|post|sendbeacon|socket|uses)\b|/dev/tcp/`)
	reads = lazyregexp.New(`(?i)secret|token|passw|api_?key|access_?key|private_?key|credential|\benv\b|environ|printenv|export -p|declare -|\bset\b|\.ssh|\.aws|\.env|\.netrc|\.npmrc|\.pypirc|\.kube|\.docker|\.gnupg|\.config/|id_rsa|id_ed25519|git-credentials|/etc/shadow|_KEY\b|toJSON|kubectl get`)
)

// sendWords are the beginnings of words of sends, and what stands in each address, as JSON may escape it.
var sendWords = [][]byte{
	[]byte("://"), []byte(`:\/\/`), []byte("/dev/tcp/"), []byte("curl"), []byte("wget"), []byte("nc"), []byte("netcat"), []byte("socat"), []byte("http"), []byte("xh "), []byte("dig "), []byte("nslookup"),
	[]byte("scp"), []byte("rsync"), []byte("sftp"), []byte("telnet"), []byte("openssl"), []byte("iwr"), []byte("irm"), []byte("nvoke-"), []byte("fetch"),
}

// Possible reports whether a text, quoted or not, may be code that sends something. It is cheap, and passes over
// most texts.
func Possible(text []byte) bool {
	isMark := func(c byte) bool { return bytes.IndexByte(text, c) >= 0 }
	if !slices.ContainsFunc([]byte("$~(|@<>="), isMark) && !bytes.Contains(text, []byte(":/")) {
		return false
	}
	return slices.ContainsFunc(sendWords, func(w []byte) bool { return bytes.Contains(text, w) })
}

// Leaks lists what code in a text sends. A text that is no code has none.
func Leaks(text string) []Leak {
	text = text[:min(len(text), maxCode)]
	if !sends.MatchString(text) || !reads.MatchString(text) {
		return nil
	}
	var out []Leak
	for _, s := range snippets(text) {
		out = append(out, s.leaks(0)...)
	}
	return distinct(out)
}

// distinct keeps the first leak of each secret to each host.
func distinct(list []Leak) (out []Leak) {
	for _, l := range list {
		same := func(o Leak) bool { return o.Host == l.Host && o.Secret == l.Secret }
		if len(out) < maxLeaks && !slices.ContainsFunc(out, same) {
			out = append(out, l)
		}
	}
	return out
}

// language is what a snippet is written in.
type language int

const (
	shellCode language = iota
	pythonCode
	javascriptCode
	powerShellCode
)

// snippet is code, and the variables that what surrounds it gives it.
type snippet struct {
	language language
	code     string
	env      map[string]secret
	// prose says that the code may stand in a text for people.
	prose bool
	// leak is what a step of a workflow sends by itself, nil for code.
	leak *Leak
}

// fence is a block of code in Markdown.
var fence = lazyregexp.New("(?ms)^[ \t>]*(?:```+|~~~+)[ \t]*([\\w+#-]*)[^\n]*\n(.*?)^[ \t>]*(?:```+|~~~+)[ \t]*$")

// snippets takes the code out of a text.
func snippets(text string) (out []snippet) {
	blocks := fence.FindAllStringSubmatch(text, 50)
	for _, b := range blocks {
		out = append(out, codeOf(strings.ToLower(b[1]), b[2])...)
	}
	if len(blocks) > 0 {
		text = fence.ReplaceAllString(text, "\n")
	}
	return append(out, codeOf("", text)...)
}

var (
	isDockerfile = lazyregexp.New(`(?m)^FROM[ \t]+\S+`)
	isPython     = lazyregexp.New(`(?m)^\s*(?:import|from) [\w.]+|\bos\.environ\b|\brequests\.\w+\(`)
	isScript     = lazyregexp.New(`\bprocess\.env\b|\brequire\(|\bfetch\(|\baxios\b|(?m)^\s*(?:const|let|import) `)
	isPowerShell = lazyregexp.New(`(?i)\$env:|Get-ChildItem|Get-Content|Invoke-(?:WebRequest|RestMethod)|\b(?:iwr|irm)\b`)
	isShebang    = lazyregexp.New(`^\s*#!.*\b(?:ba|da|z|k)?sh\b`)
)

// codeOf reads one block by the name of its language, or by how it looks.
func codeOf(name, text string) []snippet {
	switch name {
	case "python", "py", "python3":
		return []snippet{{language: pythonCode, code: text}}
	case "js", "javascript", "ts", "typescript", "node", "mjs":
		return []snippet{{language: javascriptCode, code: text}}
	case "powershell", "ps1", "pwsh":
		return []snippet{{language: powerShellCode, code: text}}
	case "dockerfile", "docker":
		return dockerSnippets(text)
	}
	if list, ok := documentSnippets(text); ok {
		return list
	}
	if isDockerfile.MatchString(text) {
		return dockerSnippets(text)
	}
	var out []snippet
	if !isShebang.MatchString(text) {
		if isPython.MatchString(text) {
			out = append(out, snippet{language: pythonCode, code: text})
		}
		if isScript.MatchString(text) {
			out = append(out, snippet{language: javascriptCode, code: text})
		}
		if isPowerShell.MatchString(text) {
			out = append(out, snippet{language: powerShellCode, code: text})
		}
	}
	return append(out, snippet{language: shellCode, code: text, prose: name == "" && !isShebang.MatchString(text)})
}
