package lazyregexp

import (
	"os"
	"regexp"
	"strings"
	"sync"
)

// Regexp is a regular expression of package regexp, whose methods it has. It may be used by
// several goroutines.
type Regexp struct {
	expression string
	compile    sync.Once
	compiled   *regexp.Regexp
}

// New takes an expression in the syntax of package regexp. One that regexp refuses panics at its
// first use, and in a test at once.
func New(expression string) *Regexp {
	re := &Regexp{expression: expression}
	if len(os.Args) > 0 && strings.HasSuffix(os.Args[0], ".test") {
		re.Compiled()
	}
	return re
}

// Compiled is the expression itself.
func (re *Regexp) Compiled() *regexp.Regexp {
	re.compile.Do(func() { re.compiled = regexp.MustCompile(re.expression) })
	return re.compiled
}

// String is the expression as it was written.
func (re *Regexp) String() string { return re.expression }

// SubexpIndex is regexp.Regexp's.
func (re *Regexp) SubexpIndex(name string) int { return re.Compiled().SubexpIndex(name) }

// Match is regexp.Regexp's.
func (re *Regexp) Match(b []byte) bool { return re.Compiled().Match(b) }

// MatchString is regexp.Regexp's.
func (re *Regexp) MatchString(s string) bool { return re.Compiled().MatchString(s) }

// FindString is regexp.Regexp's.
func (re *Regexp) FindString(s string) string { return re.Compiled().FindString(s) }

// FindStringIndex is regexp.Regexp's.
func (re *Regexp) FindStringIndex(s string) []int { return re.Compiled().FindStringIndex(s) }

// FindSubmatch is regexp.Regexp's.
func (re *Regexp) FindSubmatch(b []byte) [][]byte { return re.Compiled().FindSubmatch(b) }

// FindSubmatchIndex is regexp.Regexp's.
func (re *Regexp) FindSubmatchIndex(b []byte) []int { return re.Compiled().FindSubmatchIndex(b) }

// FindStringSubmatch is regexp.Regexp's.
func (re *Regexp) FindStringSubmatch(s string) []string { return re.Compiled().FindStringSubmatch(s) }

// FindStringSubmatchIndex is regexp.Regexp's.
func (re *Regexp) FindStringSubmatchIndex(s string) []int {
	return re.Compiled().FindStringSubmatchIndex(s)
}

// FindAll is regexp.Regexp's.
func (re *Regexp) FindAll(b []byte, n int) [][]byte { return re.Compiled().FindAll(b, n) }

// FindAllString is regexp.Regexp's.
func (re *Regexp) FindAllString(s string, n int) []string { return re.Compiled().FindAllString(s, n) }

// FindAllStringIndex is regexp.Regexp's.
func (re *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return re.Compiled().FindAllStringIndex(s, n)
}

// FindAllSubmatchIndex is regexp.Regexp's.
func (re *Regexp) FindAllSubmatchIndex(b []byte, n int) [][]int {
	return re.Compiled().FindAllSubmatchIndex(b, n)
}

// FindAllStringSubmatch is regexp.Regexp's.
func (re *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return re.Compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex is regexp.Regexp's.
func (re *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return re.Compiled().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAll is regexp.Regexp's.
func (re *Regexp) ReplaceAll(b, by []byte) []byte { return re.Compiled().ReplaceAll(b, by) }

// ReplaceAllString is regexp.Regexp's.
func (re *Regexp) ReplaceAllString(s, by string) string { return re.Compiled().ReplaceAllString(s, by) }

// ReplaceAllStringFunc is regexp.Regexp's.
func (re *Regexp) ReplaceAllStringFunc(s string, by func(string) string) string {
	return re.Compiled().ReplaceAllStringFunc(s, by)
}

// Split is regexp.Regexp's.
func (re *Regexp) Split(s string, n int) []string { return re.Compiled().Split(s, n) }
