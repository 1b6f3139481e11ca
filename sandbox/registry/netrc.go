package registry

import (
	"path/filepath"
	"strings"
)

// login is an entry of a netrc file.
type login struct{ machine, user, password string }

// parseNetrc reads a netrc file: machine, login, password, account and macdef, apart
// by blanks; a value in double quotes may hold blanks. hasDefault tells of an entry for
// all other hosts, which is left out: it would give a password to any of them.
func parseNetrc(data []byte) (logins []login, hasDefault bool) {
	s := &netrcScanner{rest: string(data)}
	entry := &login{}
	for {
		word, ok := s.word()
		if !ok {
			return logins, hasDefault
		}
		switch word {
		case "machine":
			host, _ := s.word()
			logins = append(logins, login{machine: strings.ToLower(host)})
			entry = &logins[len(logins)-1]
		case "default":
			hasDefault, entry = true, &login{}
		case "login":
			entry.user, _ = s.word()
		case "password":
			entry.password, _ = s.word()
		case "account":
			_, _ = s.word()
		case "macdef":
			s.skipMacro()
		default:
			if strings.HasPrefix(word, "#") {
				s.skipLine()
			}
		}
	}
}

// netrcScanner splits a netrc file into words.
type netrcScanner struct{ rest string }

const netrcBlanks = " \t\r\n"

// word is the next word. Within quotes a backslash escapes the next byte.
func (s *netrcScanner) word() (string, bool) {
	s.rest = strings.TrimLeft(s.rest, netrcBlanks)
	if s.rest == "" {
		return "", false
	}
	if s.rest[0] != '"' {
		end := strings.IndexAny(s.rest, netrcBlanks)
		if end < 0 {
			end = len(s.rest)
		}
		word := s.rest[:end]
		s.rest = s.rest[end:]
		return word, true
	}
	var b strings.Builder
	for i := 1; i < len(s.rest); i++ {
		switch {
		case s.rest[i] == '"':
			s.rest = s.rest[i+1:]
			return b.String(), true
		case s.rest[i] == '\\' && i+1 < len(s.rest):
			i++
		}
		b.WriteByte(s.rest[i])
	}
	s.rest = ""
	return b.String(), true
}

func (s *netrcScanner) skipLine() {
	_, s.rest, _ = strings.Cut(s.rest, "\n")
}

// skipMacro skips a macro, which reaches to the next empty line.
func (s *netrcScanner) skipMacro() {
	s.skipLine()
	for s.rest != "" {
		line, rest, _ := strings.Cut(s.rest, "\n")
		s.rest = rest
		if strings.TrimSpace(line) == "" {
			return
		}
	}
}

// readNetrc reads the user's netrc file.
func (l *loader) readNetrc() error {
	path := l.env["NETRC"]
	if path == "" {
		path = filepath.Join(l.src.Home, ".netrc")
	}
	data, err := readFile(path)
	if err != nil || data == nil {
		return err
	}
	var hasDefault bool
	if l.logins, hasDefault = parseNetrc(data); hasDefault {
		l.unserved(Unserved{
			Tool: Pip, Setting: path, Fallback: true, What: `the entry "default", a password for every host`,
			Remedy: `name the registry's host: "machine HOST login USER password …"`,
		})
	}
	return nil
}

// loginFor is the netrc entry of a host, nil for none.
func (l *loader) loginFor(host string) *login {
	for i := range l.logins {
		if l.logins[i].machine == strings.ToLower(host) {
			return &l.logins[i]
		}
	}
	return nil
}
