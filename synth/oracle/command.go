package oracle

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// touch is a command of the shell that makes a file of the token's name, which
// the text itself does not hold: $@ is empty where a shell was given a command.
func touch(token string) string {
	a, b := halves(token)
	return "touch " + a + "$@" + b
}

// separators end one command and begin another.
var separators = []struct{ name, text string }{
	{"semicolon", ";"}, {"pipe", "|"}, {"and", "&&"}, {"background", "&"}, {"or", "||"}, {"newline", "\n"},
}

// quotings are the places in a command line where a value may stand; each leaves
// its quotes, and comments out what follows.
var quotings = []struct{ name, leave string }{
	{"bare", ""}, {"single-quoted", "'"}, {"double-quoted", `"`},
}

// polyglot runs the command in whichever quotes the value stands. Of the three
// pieces the comment sign keeps the others out.
func polyglot(separator, token string) string {
	c := separator + touch(token) + " #"
	return c + "'" + c + `"` + c
}

func commands() []variant {
	var out []variant
	add := func(context string, after bool, text func(token string) string) {
		out = append(out, variant{oracle: session.OracleCommand, context: context, after: after, make: func(_ *World, token string) (string, File) { return text(token), File{} }})
	}
	for _, s := range separators {
		if s.name == "newline" {
			// A comment ends at the line's end: each piece is a line of its own.
			add("newline, any quotes", true, func(t string) string {
				return "\n" + touch(t) + "\n#'\n" + touch(t) + "\n#\"\n" + touch(t) + "\n#"
			})
			continue
		}
		add(s.name+", any quotes", true, func(t string) string { return polyglot(s.text, t) })
	}
	add("substitution, any quotes", true, func(t string) string { return "$(" + touch(t) + ")'$(" + touch(t) + ")'" })
	add("backticks, any quotes", true, func(t string) string { return "`" + touch(t) + "`'`" + touch(t) + "`'" })
	add("semicolon, no blank", false, func(t string) string {
		a, b := halves(t)
		return "x;touch${IFS}" + a + "$@" + b + ";"
	})
	add("semicolon, no dollar", true, func(t string) string {
		a, b := halves(t)
		return ";touch\t" + a + "''" + b + ";"
	})
	add("newline, no dollar", true, func(t string) string {
		a, b := halves(t)
		return "\ntouch " + a + "''" + b + "\n"
	})
	add("backticks, no dollar", true, func(t string) string {
		a, b := halves(t)
		c := "`touch " + a + "''" + b + "`"
		return c + "'" + c + "'"
	})
	for _, q := range quotings {
		for _, s := range separators {
			add(s.name+", "+q.name, true, func(t string) string { return q.leave + s.text + touch(t) + s.text + q.leave })
		}
	}
	add("substitution", false, func(t string) string { return "$(" + touch(t) + ")" })
	add("backticks", false, func(t string) string { return "`" + touch(t) + "`" })
	add("whole", false, touch)
	return out
}

// readers are command lines of programs that read, each with an option by which the program writes a file.
var readers = []struct{ context, before, after string }{
	{"option of find", "find . -maxdepth 0 -fprint ", ""},
	{"option of sort", "sort -o ", " /dev/null"},
	{"option of git", "git log -1 --output=", ""},
	{"program of sed", "sed -n 'w ", "' /dev/null"},
	{"program of awk", "awk 'BEGIN { print > \"", "\" }'"},
}

// Readers is how many inputs Reader has.
func Readers() int { return len(readers) }

// Reader is the k-th whole command line that a filter by the program's name takes for one that only reads,
// 0 <= k < Readers().
func Reader(k int, token string) Input {
	r := readers[k]
	return Input{Text: r.before + token + r.after, Injection: session.Injection{Oracle: session.OracleArgument, Context: r.context, Token: token}}
}

// TakesCommand reports whether a place takes a whole command line, by its name or by what stands there.
func TakesCommand(p Place) bool {
	switch strings.ToLower(p.Name) {
	case "command", "cmd", "commandline", "command_line", "shell_command", "shellcommand":
		return true
	}
	program, rest, _ := strings.Cut(p.Value, " ")
	return rest != "" && slices.Contains([]string{"ls", "cat", "head", "tail", "wc", "grep", "find", "git", "sort", "du", "df", "ps", "stat"}, program)
}

func arguments() []variant {
	var out []variant
	for _, x := range []struct {
		context, text string
		after         bool
	}{
		{"output option", "--output=", false}, {"split output option", " --output=", true},
		{"split address option", " --address=", true}, {"short output option", "-o", false},
	} {
		out = append(out, variant{oracle: session.OracleArgument, context: x.context, after: x.after, make: func(_ *World, token string) (string, File) { return x.text + token, File{} }})
	}
	return out
}
