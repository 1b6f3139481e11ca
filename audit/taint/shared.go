package taint

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/audit/lang"
)

// sharedOrigin begins the origin of what is read from a file that any user of the machine may have made; its path follows.
const sharedOrigin = "shared:"

// sharedDirs are directories in which every user may make files.
var sharedDirs = []string{"/tmp/", "/var/tmp/", "/dev/shm/"}

// isShared reports whether a path is a constant in a directory that all users share: whoever is there first makes the file.
func isShared(path *value) bool {
	return path.known && slices.ContainsFunc(sharedDirs, func(dir string) bool { return strings.HasPrefix(path.text, dir) && !strings.Contains(path.text, "/..") })
}

// sharesFiles reports whether a source holds a path in such a directory: what its functions return may then be another
// user's, whatever they are given.
func (s *source) sharesFiles() bool {
	if s.shares == nil {
		found := false
		lang.Walk(s.File, func(n lang.Node, _ *lang.Scope) bool {
			c, is := n.(lang.Const)
			found = found || is && c.Kind == lang.String && isShared(&value{text: c.Text, known: true})
			return !found
		})
		s.shares = &found
	}
	return *s.shares
}

// sharedFile is the content of such a file.
func (f *frame) sharedFile(c *callInfo) *value {
	path := c.args[0].text
	w := &way{Step: Step{File: f.src.Path, Span: c.call.Span, Text: "opens " + path + ", which every user of the machine may have made"}, length: 1}
	return &value{taints: []taint{{origin: sharedOrigin + path, way: w}}}
}

// parameterOf is the name of a parameter, or the path of a shared file.
func parameterOf(origin string) string {
	if path, ok := strings.CutPrefix(origin, sharedOrigin); ok {
		return path
	}
	return origin[strings.LastIndexByte(origin, '.')+1:]
}
