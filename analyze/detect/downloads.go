package detect

import (
	"bytes"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/mcp/wire"
)

// downloads finds commands in what a server says that run what a host serves, where nobody named the host: whoever
// follows them runs whatever it serves that day.
type downloads struct{}

func (downloads) name() string { return "handed_out_download" }

var (
	// ranDownload is a command line that gives a download to an interpreter: behind a pipe, in a substitution, or as
	// a file that the next command runs.
	ranDownload = lazyregexp.New(`(?i)\b(?:curl|wget|fetch)\b[^|\n]{0,200}?\bhttps?://([\w.-]+)[^|\n]{0,200}\|\s*(?:sudo\s+)?(?:/\S*/)?(?:(?:ba|z|da|k)?sh|python3?|node|perl|ruby|php)\b` +
		`|\b(?:ba|z|da)?sh\s+(?:-c\s+)?["']?[<$]\(\s*(?:curl|wget)\b[^)\n]{0,200}?\bhttps?://([\w.-]+)` +
		`|\b(?:iex|Invoke-Expression)\b[^\n]{0,200}?\bhttps?://([\w.-]+)` +
		`|\b(?:irm|iwr|Invoke-WebRequest|Invoke-RestMethod)\b[^|\n]{0,200}?\bhttps?://([\w.-]+)[^|\n]{0,200}\|\s*(?:iex|Invoke-Expression)\b`)
	// downloaders are the words without which no such line is there.
	downloaders = [][]byte{[]byte("curl"), []byte("wget"), []byte("Invoke-"), []byte("iwr"), []byte("irm")}
)

func (downloads) event(c *context) {
	if !c.FromServer() || c.Kind == wire.Unparsed || isDeclaration(c) {
		return
	}
	var told map[string]bool
	n := 0
	for _, body := range [][]byte{c.Result, c.Fault, c.Params} {
		if !mayDownload(body) {
			continue
		}
		wire.Texts(body, func(_ [][]byte, quoted []byte, isName bool) {
			if isName || n >= maxHandouts || !holdsAny(quoted, downloaders) {
				return
			}
			s, _ := wire.Text(quoted)
			n++
			for _, host := range Once(c.known, "downloads", s, downloadedFrom) {
				if host == "" || told[host] || named(c, host) {
					continue
				}
				if told == nil {
					told = map[string]bool{}
				}
				told[host] = true
				whose, extra := sayer(c)
				c.add(Divergence, "command_runs_download", 3, append([]any{"host", name(host)}, extra...), "%s tells whoever reads it to run what %s serves", whose, name(host))
				c.identify("a command that runs a download")
			}
		})
	}
}

// downloadedFrom are the hosts of the lines of a text that run a download.
func downloadedFrom(s string) (hosts []string) {
	for _, m := range ranDownload.FindAllStringSubmatch(s, maxTold) {
		hosts = append(hosts, strings.Join(m[1:], ""))
	}
	return hosts
}

// mayDownload tells most values without such a line: each line has an address.
func mayDownload(v []byte) bool {
	return (bytes.Contains(v, []byte("//")) || bytes.IndexByte(v, '\\') >= 0) && holdsAny(v, downloaders)
}

func holdsAny(text []byte, words [][]byte) bool {
	for _, w := range words {
		if bytes.Contains(text, w) {
			return true
		}
	}
	return false
}
