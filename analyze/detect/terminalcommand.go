package detect

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/coalmine-dev/coalmine/analyze/handout"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// ClipboardKind is the kind of a TerminalSequence that writes to the clipboard or reads it.
const ClipboardKind = "clipboard"

// osc judges an operating system command by its number. The numbers are those of xterm, iTerm2,
// kitty, ConEmu, VS Code and Vim.
func (r *terminalReader) osc(from int, body string) {
	number, rest, _ := strings.Cut(body, ";")
	asks := slices.Contains(strings.Split(rest, ";"), "?")
	n, err := strconv.Atoi(number)
	switch {
	case err != nil && strings.HasPrefix(body, "l"), err != nil && strings.HasPrefix(body, "L"):
		r.tell(from, "title", 1, "sets the title of the window to “"+name(body[1:])+"”")
	case err != nil || n < 0:
	case n <= 2 || n == 30 || n == 31:
		r.tell(from, "title", 1, "sets the title of the window to “"+name(rest)+"” (OSC "+number+")")
	case n == 8:
		r.link(from, rest)
	case n == 9:
		r.conEmu(from, rest)
	case n == 52:
		_, payload, _ := strings.Cut(rest, ";")
		r.clipboard(from, payload, "OSC 52")
	case n == 5522:
		r.tell(from, ClipboardKind, 3, "acts on the clipboard (OSC 5522)")
	case n == 1337:
		r.iTerm(from, rest)
	case n == 51:
		if !strings.HasPrefix(rest, "A") { // the directory
			r.tell(from, "editor", 3, "runs a command of the editor around the terminal: “"+name(rest)+"” (OSC 51)")
		}
	case asks || n == 60 || n == 61:
		r.tell(from, "query", 2, "asks the terminal for a setting, which it answers as if typed (OSC "+number+")")
	case n == 777 || n == 99:
		r.tell(from, "notification", 1, "shows a notification on the desktop: “"+name(rest)+"” (OSC "+number+")")
	case n == 633 && strings.HasPrefix(rest, "E"):
		r.tell(from, "command", 1, "tells the terminal of a command line: “"+name(strings.TrimPrefix(rest, "E;"))+"” (OSC 633)")
	case n == 3 || n == 46:
		r.tell(from, "setting", 2, "changes a property or the log file of the terminal: “"+name(rest)+"” (OSC "+number+")")
	case !slices.Contains(harmless, n) && (n < 10 || n > 19) && (n < 104 || n > 119):
		r.tell(from, "command", 1, "is a command to the terminal: “"+name(body)+"” (OSC "+number+")")
	}
}

// harmless are commands about colours, the pointer, the directory and the parts of a shell's output.
var harmless = []int{4, 5, 6, 7, 21, 22, 50, 66, 133, 633}

// clipboard judges what is put into the clipboard.
func (r *terminalReader) clipboard(from int, payload, by string) {
	payload = strings.Map(func(c rune) rune {
		if c == '\n' || c == '\r' || c == ' ' {
			return -1
		}
		return c
	}, payload)
	switch data, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(payload, "=")); {
	case payload == "?":
		r.tell(from, ClipboardKind, 3, "asks the terminal for what is in the clipboard, which it answers as if typed ("+by+")")
	case payload == "" || payload == "!":
		r.tell(from, ClipboardKind, 2, "empties the clipboard ("+by+")")
	case err != nil || !utf8.Valid(data):
		r.tell(from, ClipboardKind, 3, "puts data into the clipboard ("+by+")")
	default:
		r.tell(from, ClipboardKind, 3, "puts “"+name(strings.TrimSpace(string(data)))+"” into the clipboard ("+by+")")
		r.found[len(r.found)-1].Payload = strings.TrimSpace(string(data))
	}
}

// conEmu judges OSC 9, which ConEmu and Windows Terminal read by its first parameter, and iTerm2
// as a notification.
func (r *terminalReader) conEmu(from int, rest string) {
	sub, text, more := strings.Cut(rest, ";")
	switch {
	case sub == "7" && more, sub == "6" && more:
		r.tell(from, "program", 3, "has the terminal run “"+name(text)+"” (OSC 9;"+sub+")")
	case sub == "4" || sub == "9" || sub == "12" || sub == "8":
	default:
		r.tell(from, "notification", 1, "shows a notification on the desktop: “"+name(rest)+"” (OSC 9)")
	}
}

// iTermQuiet are the commands of iTerm2 that change colours, marks and names within the window.
var iTermQuiet = lazyregexp.New(`^(?:CurrentDir|RemoteHost|ShellIntegrationVersion|SetUserVar|SetMark|SetBadgeFormat|CursorShape|HighlightCursorLine|SetColors|UnicodeVersion|EndOfCopy|EndCopy|AddAnnotation)\b`)

func (r *terminalReader) iTerm(from int, rest string) {
	command, args, _ := strings.Cut(rest, "=")
	switch {
	case command == "Copy":
		r.clipboard(from, strings.TrimPrefix(args, ":"), "OSC 1337")
	case command == "CopyToClipboard":
		r.tell(from, ClipboardKind, 3, "puts the text behind it into the clipboard (OSC 1337)")
	case command == "OpenURL":
		r.tell(from, "program", 3, "opens an address in the browser (OSC 1337)")
	case command == "File" || command == "MultipartFile":
		if !strings.Contains(args, "inline=1") {
			r.tell(from, "download", 3, "puts a file into the user's downloads (OSC 1337)")
		}
	case strings.HasPrefix(command, "Report"):
		r.tell(from, "query", 2, "asks the terminal for a setting, which it answers as if typed (OSC 1337)")
	case command == "RequestUpload" || command == "Custom" || command == "SetKeyLabel":
		r.tell(from, "command", 2, "is a command to the terminal: “"+name(rest)+"” (OSC 1337)")
	case !iTermQuiet.MatchString(command):
		r.tell(from, "command", 1, "is a command to the terminal: “"+name(rest)+"” (OSC 1337)")
	}
}

// dcs is what a device control string begins with: parameters, intermediate bytes and the final one.
var dcs = lazyregexp.New(`^([<=>?]?[0-9;:]*)([ -/]*)([@-~])`)

// device judges a device control string. Pictures are no deed.
func (r *terminalReader) device(from int, body string) {
	m := dcs.FindStringSubmatch(body)
	if m == nil {
		return
	}
	switch m[2] + m[3] {
	case "q", "p", "s", "$r", "+r", "!|":
	case "$q", "+q":
		r.tell(from, "query", 2, "asks the terminal for a setting, which it answers as if typed (DCS)")
	case "|":
		r.tell(from, "keys", 3, "gives keys of the keyboard another text: “"+name(body)+"” (DECUDK)")
	case "!z":
		r.tell(from, "keys", 3, "defines a macro of the terminal (DECDMAC)")
	case "+p", "$t":
		r.tell(from, "setting", 2, "changes settings of the terminal (DCS)")
	default:
		r.tell(from, "command", 1, "is a command to the terminal: “"+name(body)+"” (DCS)")
	}
}

// application judges an application's command. kitty takes pictures so, also out of files.
func (r *terminalReader) application(from int, body string) {
	keys, payload, _ := strings.Cut(body, ";")
	if !strings.HasPrefix(keys, "G") {
		r.tell(from, "command", 2, "is a command to the terminal: “"+name(body)+"” (APC)")
		return
	}
	for _, k := range strings.Split(keys[1:], ",") {
		if k == "t=f" || k == "t=t" || k == "t=s" {
			path, _ := base64.StdEncoding.DecodeString(payload)
			r.tell(from, "file", 2, "has the terminal read a file: “"+name(string(path))+"” (APC)")
		}
	}
}

var (
	// sequences are those within the text of a link.
	sequences = lazyregexp.New(`\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\))`)
	// plainSchemes are those of addresses that show something and run nothing.
	plainSchemes = []string{"", "http", "https", "mailto", "file", "ftp", "vscode", "cursor", "idea", "zed", "editor", "tel"}
	// shownURL is an address at the beginning of a link's text.
	shownURL = lazyregexp.New(`(?i)^\W*(?:https?://)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)(?:[:/?#]\S*)?\W*$`)
)

// link follows a hyperlink: its text stands between it and the next one.
func (r *terminalReader) link(from int, rest string) {
	if r.open >= 0 {
		r.closeLink(from)
	}
	_, uri, _ := strings.Cut(rest, ";")
	if uri == "" {
		return
	}
	r.open, r.label, r.uri = from, r.at, uri
}

// closeLink judges a link whose text ends at a place.
func (r *terminalReader) closeLink(end int) {
	from := r.open
	r.open = -1
	to, err := url.Parse(r.uri)
	if err != nil {
		return
	}
	label := strings.TrimSpace(sequences.ReplaceAllString(r.s[r.label:end], ""))
	scheme := strings.ToLower(to.Scheme)
	if !slices.Contains(plainSchemes, scheme) && !strings.Contains(strings.ToLower(label), scheme+":") {
		r.tell(from, "link", 2, "holds a link to a program, with the text “"+name(label)+"”: "+name(r.uri)+" (OSC 8)")
		return
	}
	m := shownURL.FindStringSubmatch(label)
	if m == nil || to.Hostname() == "" || scheme == "file" {
		return
	}
	shows := strings.ToLower(m[1])
	if !strings.Contains(label, "://") && !isBareHost("", shows) || handout.Domain(shows) == handout.Domain(to.Hostname()) {
		return
	}
	r.tell(from, "link", 3, "holds a link that shows "+name(shows)+" and leads to "+name(to.Hostname())+" (OSC 8)")
}
