package audit

import (
	"bufio"
	"bytes"
	"path"
	"regexp"
	"strings"
)

// ignores are the patterns of a checkout's .gitignore files, in their order, as
// gitignore(5) describes them. What git tracks in spite of a pattern, auditor.tracked knows.
// go-git has a matcher too, within a whole implementation of git.
type ignores []ignorePattern

// ignorePattern is one line.
type ignorePattern struct {
	dir     string // of the file that holds it, "" for the root
	match   *regexp.Regexp
	negated bool
	onlyDir bool
}

// maxPatterns bounds the patterns of a checkout.
const maxPatterns = 2_000

// read adds the patterns of a file of a directory.
func (g *ignores) read(dir string, data []byte) {
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() && len(*g) < maxPatterns {
		if p, ok := ignoreLine(lines.Text()); ok {
			p.dir = dir
			*g = append(*g, p)
		}
	}
}

func ignoreLine(line string) (p ignorePattern, ok bool) {
	line = strings.TrimRight(line, " \t\r")
	if line == "" || line[0] == '#' || len(line) > 500 {
		return p, false
	}
	if line[0] == '!' {
		p.negated, line = true, line[1:]
	}
	if strings.HasSuffix(line, "/") {
		p.onlyDir, line = true, strings.TrimRight(line, "/")
	}
	anchored := strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return p, false
	}
	expression := globExpression(line)
	if !anchored {
		expression = `(?:.*/)?` + expression
	}
	re, err := regexp.Compile(`^` + expression + `$`)
	p.match = re
	return p, err == nil
}

// globExpression is a pattern of gitignore(5) as a regular expression.
func globExpression(glob string) string {
	var b strings.Builder
	for i := 0; i < len(glob); i++ {
		switch c := glob[i]; {
		case strings.HasPrefix(glob[i:], "**/"):
			b.WriteString(`(?:.*/)?`)
			i += 2
		case strings.HasPrefix(glob[i:], "**"):
			b.WriteString(`.*`)
			i++
		case c == '*':
			b.WriteString(`[^/]*`)
		case c == '?':
			b.WriteString(`[^/]`)
		case c == '[':
			end := strings.IndexByte(glob[i+1:], ']')
			if end <= 0 {
				b.WriteString(`\[`)
				continue
			}
			class := glob[i+1 : i+1+end]
			if class[0] == '!' {
				class = "^" + class[1:]
			}
			b.WriteString("[" + strings.ReplaceAll(class, `\`, `\\`) + "]")
			i += end + 1
		case c == '\\' && i+1 < len(glob):
			i++
			b.WriteString(regexp.QuoteMeta(glob[i : i+1]))
		default:
			b.WriteString(regexp.QuoteMeta(string(c)))
		}
	}
	return b.String()
}

// has reports whether a path is ignored: the last pattern that matches decides.
func (g ignores) has(p string, isDir bool) bool {
	for i := len(g) - 1; i >= 0; i-- {
		one := &g[i]
		rest := p
		if one.dir != "" {
			var below bool
			if rest, below = strings.CutPrefix(p, one.dir+"/"); !below {
				continue
			}
		}
		if (isDir || !one.onlyDir) && one.match.MatchString(rest) {
			return !one.negated
		}
	}
	return false
}

// readIgnores reads the patterns of a directory of the reader's own.
func (a *auditor) readIgnores(dir string) {
	if !a.own {
		return
	}
	data, err := a.read(path.Join(dir, ".gitignore"))
	if err != nil {
		return
	}
	if dir == "." {
		dir = ""
	}
	a.ignored.read(dir, data)
}
