package sinkhole

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// The mailbox has two messages; their numbers are 1 and 2, and their identifiers firstUID and the next one.
const (
	mails    = 2
	firstUID = 101
	mailDate = "12-Jan-2026 08:00:00 +0000"
)

// subjects are those of the messages.
var subjects = [mails]string{"Quarterly report", "Garden plans"}

// header and body are of a message (RFC 5322).
func header(n int) string {
	return "From: Alex Morgan <alex.morgan@example.com>\r\nTo: Sam <sam@example.com>\r\nSubject: " + subjects[n-1] +
		"\r\nDate: Mon, 12 Jan 2026 08:00:00 +0000\r\nMessage-ID: <" + strconv.Itoa(firstUID+n-1) + "@mail.example.com>\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=utf-8\r\n\r\n"
}

func (t *dialogue) body() string { return t.planted.within(steady) + "\r\n" }

// pop3 answers a client of the Post Office Protocol (RFC 1939).
func (t *dialogue) pop3(line string) string {
	v, rest := verb(line)
	first, _, _ := strings.Cut(rest, " ")
	n, err := strconv.Atoi(first)
	one := err == nil && n >= 1 && n <= mails
	list := func(of func(n int) string) string {
		switch {
		case one:
			return "+OK " + first + " " + of(n) + "\r\n"
		case rest != "":
			return "-ERR no such message\r\n"
		}
		out := "+OK\r\n"
		for n := 1; n <= mails; n++ {
			out += strconv.Itoa(n) + " " + of(n) + "\r\n"
		}
		return out + ".\r\n"
	}
	size := func(n int) string { return strconv.Itoa(len(header(n)) + len(t.body())) }
	switch v {
	case "STAT":
		return fmt.Sprintf("+OK %d %d\r\n", mails, len(header(1))+len(header(2))+mails*len(t.body()))
	case "CAPA":
		return "+OK\r\nUSER\r\nUIDL\r\nTOP\r\n.\r\n"
	case "LIST":
		return list(size)
	case "UIDL":
		return list(func(n int) string { return strconv.Itoa(firstUID + n - 1) })
	case "RETR", "TOP":
		if !one {
			return "-ERR no such message\r\n"
		}
		return "+OK\r\n" + header(n) + t.body() + ".\r\n"
	case "QUIT":
		t.quit = true
	}
	return "+OK\r\n"
}

// literalSize is how many bytes follow a line of IMAP (RFC 9051, section 4.3); with a plus they come unasked.
var literalSize = regexp.MustCompile(`\{(\d{1,9})(\+?)\}$`)

// imap answers a client of the Internet Message Access Protocol (RFC 9051, RFC 3501).
func (t *dialogue) imap(line string) string {
	if t.left > 0 {
		if t.left -= len(line) + 2; t.left > 0 {
			return ""
		}
		t.left = 0
		return t.tag + " OK done\r\n"
	}
	if t.auth > 0 {
		t.auth = 0
		return t.tag + " OK done\r\n"
	}
	tag, rest, _ := strings.Cut(line, " ")
	switch {
	case tag == "":
		return ""
	case len(tag) > 32:
		tag = "*"
	}
	t.tag = tag
	if m := literalSize.FindStringSubmatch(rest); m != nil {
		t.left, _ = strconv.Atoi(m[1]) // nine digits at most
		if m[2] == "+" {
			return ""
		}
		return "+ Ready\r\n"
	}
	v, rest := verb(rest)
	byUID := v == "UID"
	if byUID {
		v, rest = verb(rest)
	}
	switch v {
	case "AUTHENTICATE", "IDLE":
		if strings.Contains(rest, " ") { // the credentials came with it
			break
		}
		t.auth = 1
		return "+ \r\n"
	case "LOGOUT":
		t.quit = true
		return "* BYE\r\n" + tag + " OK done\r\n"
	}
	return t.untagged(v, rest, byUID) + tag + " OK done\r\n"
}

// untagged is what comes before the end of an answer.
func (t *dialogue) untagged(v, rest string, byUID bool) string {
	switch v {
	case "CAPABILITY":
		return "* CAPABILITY IMAP4rev1 AUTH=PLAIN LOGIN MOVE UIDPLUS\r\n"
	case "LIST", "LSUB":
		return "* " + v + " (\\HasNoChildren) \"/\" \"INBOX\"\r\n* " + v + " (\\HasNoChildren \\Archive) \"/\" \"Archive\"\r\n"
	case "STATUS":
		return fmt.Sprintf("* STATUS \"INBOX\" (MESSAGES %d UNSEEN 1 RECENT 0 UIDNEXT %d UIDVALIDITY 1)\r\n", mails, firstUID+mails)
	case "SELECT", "EXAMINE":
		return fmt.Sprintf("* %d EXISTS\r\n* 0 RECENT\r\n* FLAGS (\\Answered \\Flagged \\Deleted \\Seen \\Draft)\r\n* OK [UIDVALIDITY 1] valid\r\n* OK [UIDNEXT %d] next\r\n", mails, firstUID+mails)
	case "SEARCH":
		if byUID {
			return fmt.Sprintf("* SEARCH %d %d\r\n", firstUID, firstUID+1)
		}
		return "* SEARCH 1 2\r\n"
	case "FETCH", "STORE":
		set, items, _ := strings.Cut(rest, " ")
		out := ""
		for n := 1; n <= mails; n++ {
			id := n
			if byUID {
				id += firstUID - 1
			}
			if inSet(set, id) {
				out += fmt.Sprintf("* %d FETCH (%s)\r\n", n, t.fetched(n, strings.ToUpper(items), byUID))
			}
		}
		return out
	}
	return ""
}

// maxParts bounds the parts of a set of numbers that are looked at.
const maxParts = 64

// inSet reports whether a set such as "1,3:5,7:*" has a number.
func inSet(set string, n int) bool {
	for _, part := range strings.SplitN(set, ",", maxParts) {
		low, high, isRange := strings.Cut(part, ":")
		if !isRange {
			high = low
		}
		bound := func(s string) int {
			if i, err := strconv.Atoi(s); err == nil {
				return i
			}
			return firstUID + mails - 1
		}
		if a, b := bound(low), bound(high); min(a, b) <= n && n <= max(a, b) {
			return true
		}
	}
	return false
}

// section is a part of a message that is asked for, with its place in it.
var section = regexp.MustCompile(`BODY(?:\.PEEK)?\[([^\]]{0,200})\](?:<(\d{1,9})(?:\.\d{1,9})?>)?`)

// fetched are the items of a message that are asked for.
func (t *dialogue) fetched(n int, asked string, byUID bool) string {
	head, text := header(n), t.body()
	out := []string{"FLAGS (" + []string{`\Seen`, ""}[n-1] + ")"}
	if byUID || strings.Contains(asked, "UID") {
		out = append(out, fmt.Sprintf("UID %d", firstUID+n-1))
	}
	for _, item := range []struct{ word, value string }{
		{"INTERNALDATE", `"` + mailDate + `"`},
		{"RFC822.SIZE", strconv.Itoa(len(head) + len(text))},
		//nolint:dupword // a list has NIL for each part that is not there
		{"ENVELOPE", `("Mon, 12 Jan 2026 08:00:00 +0000" "` + subjects[n-1] + `" (("Alex Morgan" NIL "alex.morgan" "example.com")) NIL NIL (("Sam" NIL "sam" "example.com")) NIL NIL NIL "<` +
			strconv.Itoa(firstUID+n-1) + `@mail.example.com>")`},
		//nolint:dupword // the same
		{"BODYSTRUCTURE", fmt.Sprintf(`("TEXT" "PLAIN" ("CHARSET" "utf-8") NIL NIL "7BIT" %d 1 NIL NIL NIL NIL)`, len(text))},
	} {
		if strings.Contains(asked, item.word) {
			out = append(out, item.word+" "+item.value)
		}
	}
	if m := section.FindStringSubmatch(asked); m != nil {
		what := head + text
		switch {
		case strings.HasPrefix(m[1], "HEADER"):
			what = head
		case m[1] != "":
			what = text
		}
		name := "BODY[" + m[1] + "]"
		if m[2] != "" {
			from, _ := strconv.Atoi(m[2]) // nine digits at most
			name, what = name+"<"+m[2]+">", what[min(from, len(what)):]
		}
		out = append(out, fmt.Sprintf("%s {%d}\r\n%s", name, len(what), what))
	} else if strings.Contains(asked, "RFC822") && !strings.Contains(asked, "RFC822.SIZE") {
		out = append(out, fmt.Sprintf("RFC822 {%d}\r\n%s", len(head)+len(text), head+text))
	}
	return strings.Join(out, " ")
}
