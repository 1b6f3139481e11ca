package rules

import (
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/analyze/text"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
	"github.com/coalmine-dev/coalmine/sandbox/session"
)

var cm319 = Rule{Rule: cm319Doc, Check: checkCM319}

var cm319Doc = finding.Rule{
	ID: "CM319", Name: "LineInjection", Title: "Line injection (CRLF)", Severity: finding.Medium, Family: finding.FamilyOracle,
	Advice: finding.Advice{Why: "Whoever controls the argument adds a header, a recipient or a setting that the tool does not offer.", Fix: "Refuse line breaks in values of one line, or write the file with a library for its format (email.message, configparser).", Preview: true},
	CWE:    []string{"CWE-93", "CWE-113", "CWE-117"}, OWASP: []string{"MCP05"},
	Help: "A text with a line break became a field of its own in a file that has one field in each line: a header of a mail, a variable of an `.env` file, a setting. Or it became a record of its own in a file that has one in each line, with tabs between its columns.\n\n" +
		"**Evidence.** The file's text at the end: its line begins with a word that was drawn for this, and all others before it are fields, or records. High is a header of a mail, a file that other programs start or obey, and a record where a declaration speaks of approvals or of an audit.\n\n" +
		"Quiet are texts of several lines, such as notes and documents. **False positive when** the format's reader takes such a line for a part of the value before it.",
}

var (
	// fieldLine is a line with a name and a value, or a comment or a section of such a file.
	fieldLine = lazyregexp.New(`^(?:[A-Za-z][\w.-]*\s*[:=].*|[#;].*|\[[^\]]+\]\s*|export [A-Za-z_]\w*=.*)$`)
	// mailHeader is a header that every mail has (RFC 5322, section 3.6).
	mailHeader = lazyregexp.New(`(?im)^(?:from|to|subject|date|message-id|mime-version):`)
)

// ofRecord are words of declarations by which others rely on each record.
var ofRecord = lazyregexp.New(`(?i)\b(?:approv\w+|audit\w*|sign(?:s|ed)?[- ]off|tamper\w*|append[- ]only|only (?:ever )?(?:added|appended)|evidence|proof)\b`)

// leastFields is how many fields a file has at least, beside the injected one.
const leastFields = 2

func checkCM319(r *Run) []finding.Finding {
	var out []finding.Finding
	for i := range r.Profile.Stored {
		f := &r.Profile.Stored[i]
		if f.Now == "" {
			continue
		}
		for _, w := range f.By {
			in := r.injected(w.Call, session.OracleLine)
			if in == nil {
				continue
			}
			fields, injected := fieldsBefore(f.Now, in.Token)
			isRecord := !injected && recordsBefore(f.Now, in.Token)
			if !injected && !isRecord {
				continue
			}
			found := r.of(&cm319Doc, writeOf(f, &w), "")
			isMail := len(mailHeader.FindAllStringIndex(fields, -1)) >= leastFields
			if isMail || r.isObeyed(f.Path) || r.isObeyedInWorkspace(f.Path) || isRecord && r.promises(ofRecord, serverOr(w.Tool)) {
				found.Severity = finding.High
			}
			what := "a field of its own"
			switch {
			case isMail:
				what = "a mail header of its own"
			case isRecord:
				what = "a record of its own"
			}
			found.Message = "a line break in argument “" + nested(in.At) + "” of “" + text.Printable(w.Tool, 80) + "” made " + what + " in " + r.stable(f.Path) + ": line injection"
			found.Fingerprint = finding.Fingerprint(cm319Doc.ID, w.Tool, in.At)
			out = append(out, found)
		}
	}
	return first(out)
}

// isInjected reports whether a line is the field that a call injected.
func isInjected(line, token string) bool {
	return strings.HasPrefix(line, token+":") || strings.HasPrefix(line, token+"=")
}

// fieldsBefore are the lines of a text up to one that begins with an injected name, and whether all of them are fields,
// leastFields at least.
func fieldsBefore(now, token string) (fields string, injected bool) {
	n := 0
	for line := range strings.Lines(now) {
		line = strings.TrimRight(line, "\r\n")
		if isInjected(line, token) {
			return fields, n >= leastFields && strings.Count(fields, `"`)%2 == 0 // else it stands within quotes
		}
		if strings.TrimSpace(line) == "" {
			if mailHeader.MatchString(fields) { // a mail's body begins here
				return fields, false
			}
			continue
		}
		if !fieldLine.MatchString(line) {
			return fields, false
		}
		fields += line + "\n"
		n++
	}
	return fields, false
}

// recordsBefore reports whether a line of a text begins with an injected name, and all lines before it are records of
// some columns that tabs separate.
func recordsBefore(now, token string) bool {
	n := 0
	for line := range strings.Lines(now) {
		if isInjected(line, token) {
			return n > 0
		}
		if strings.Count(line, "\t") < leastFields {
			return false
		}
		n++
	}
	return false
}
