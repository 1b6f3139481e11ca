package canaries

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"mime/quotedprintable"
	"net/url"
	"strings"
)

// written is how a server would write a secret, by the name of the encoding.
var written = map[string]func(string) string{
	"raw":       func(s string) string { return s },
	"capitals":  strings.ToUpper,
	"small":     strings.ToLower,
	"base64":    func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) },
	"base64url": func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
	"hex":       func(s string) string { return hex.EncodeToString([]byte(s)) },
	"HEX":       func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
	"json":      func(s string) string { b, _ := json.Marshal(s); return string(b) },
	"php":       func(s string) string { b, _ := json.Marshal(s); return strings.ReplaceAll(string(b), "/", `\/`) },
	"dotnet":    func(s string) string { b, _ := json.Marshal(s); return strings.ReplaceAll(string(b), "+", `\u002B`) },
	"mime": func(s string) string {
		var out strings.Builder
		for i, c := range base64.StdEncoding.EncodeToString([]byte(s)) {
			if i > 0 && i%76 == 0 {
				out.WriteString("\r\n")
			}
			out.WriteRune(c)
		}
		return out.String()
	},
	"base32": func(s string) string { return base32.StdEncoding.EncodeToString([]byte(s)) },
	"base32 lower": func(s string) string {
		return strings.ToLower(strings.TrimRight(base32.StdEncoding.EncodeToString([]byte(s)), "="))
	},
	"base32hex":       func(s string) string { return base32.HexEncoding.EncodeToString([]byte(s)) },
	"mixed hex":       func(s string) string { return mixed(hex.EncodeToString([]byte(s))) },
	"reversed":        reversed,
	"rot13":           rot13,
	"reversed base64": func(s string) string { return reversed(base64.StdEncoding.EncodeToString([]byte(s))) },
	"reversed hex":    func(s string) string { return reversed(hex.EncodeToString([]byte(s))) },
	"percent":         url.QueryEscape,
	"percent in full": func(s string) string { return spelled(s, "%%%02x") },
	"PERCENT in full": func(s string) string { return spelled(s, "%%%02X") },
	"percent twice":   func(s string) string { return url.QueryEscape(url.QueryEscape(s)) },
	"base64 in a URL": func(s string) string { return url.QueryEscape(base64.StdEncoding.EncodeToString([]byte(s))) },
	"base64 in PHP": func(s string) string {
		return strings.ReplaceAll(base64.StdEncoding.EncodeToString([]byte(s)), "/", `\/`)
	},
	"HTML":         html.EscapeString,
	"HTML decimal": func(s string) string { return spelled(s, "&#%d;") },
	"HTML hex":     func(s string) string { return spelled(s, "&#x%X;") },
	"HTML twice":   func(s string) string { return html.EscapeString(spelled(s, "&#%d;")) },
	"HTML names": func(s string) string {
		return strings.NewReplacer("+", "&plus;", "/", "&sol;", "_", "&lowbar;", "=", "&equals;").Replace(s)
	},
	"JSON in full":     func(s string) string { return spelled(s, `\u%04x`) },
	"JSON in JSON":     func(s string) string { b, _ := json.Marshal(spelled(s, `\u%04X`)); return string(b) },
	"Python":           func(s string) string { return spelled(s, `\x%02x`) },
	"quoted-printable": quoted,
	"QP in full":       func(s string) string { return spelled(s, "=%02X") },
	"chunked":          func(s string) string { return string(chunked([]byte(s), 7)) },
	"labels": func(s string) string {
		return strings.Join(cut(strings.TrimRight(base32.StdEncoding.EncodeToString([]byte(s)), "="), 63), ".") + ".evil.com"
	},
	"wrapped": func(s string) string { return strings.Join(cut(strings.ReplaceAll(s, "\n", ""), 20), "\n") + "\n" },
	"mime in JSON": func(s string) string {
		b, _ := json.Marshal(strings.Join(cut(base64.StdEncoding.EncodeToString([]byte(s)), 60), "\r\n"))
		return string(b)
	},
	"hex dump": func(s string) string { return strings.Join(cut(hex.EncodeToString([]byte(s)), 32), "\n") + "\n" },
	"one line": func(s string) string { return strings.ReplaceAll(s, "\n", "") },
}

// spelled writes each byte by a format.
func spelled(s, format string) string {
	var out strings.Builder
	for i := range len(s) {
		fmt.Fprintf(&out, format, s[i])
	}
	return out.String()
}

// mixed raises every other letter.
func mixed(s string) string {
	b := []byte(s)
	for i := 0; i < len(b); i += 2 {
		b[i] = strings.ToUpper(string(b[i]))[0]
	}
	return string(b)
}

func quoted(s string) string {
	var out strings.Builder
	w := quotedprintable.NewWriter(&out)
	_, _ = w.Write([]byte(strings.ReplaceAll(s, "\n", "")))
	_ = w.Close()
	return out.String()
}
