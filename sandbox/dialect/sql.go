package dialect

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// machineFunctions read or write files of the service's machine, or run programs there.
var machineFunctions = []string{
	"PG_READ_FILE", "PG_READ_BINARY_FILE", "PG_LS_DIR", "PG_LS_LOGDIR", "PG_LS_WALDIR", "PG_STAT_FILE", "LO_IMPORT", "LO_EXPORT", "PG_FILE_WRITE", "PG_FILE_UNLINK", "PG_FILE_RENAME",
	"LOAD_FILE", "SYS_EXEC", "SYS_EVAL",
}

// machineLanguages run what a function of them holds outside the database.
var machineLanguages = []string{"C", "PLPYTHONU", "PLPYTHON2U", "PLPYTHON3U", "PLPERLU", "PLTCLU", "PLSH", "PLRUSTU"}

// has reports whether a keyword or a plain name stands in the statement.
func (s part) has(words ...string) bool {
	return slices.ContainsFunc(s.tokens, func(t token) bool { return t.kind == tokenWord && slices.Contains(words, strings.ToUpper(t.text)) })
}

// word is the n-th token in upper case, "" where that is no keyword or plain name.
func (s part) word(n int) string {
	if n >= len(s.tokens) || s.tokens[n].kind != tokenWord {
		return ""
	}
	return strings.ToUpper(s.tokens[n].text)
}

// after is the place behind the first of some keywords, -1 without one.
func (s part) after(words ...string) int {
	for i := range s.tokens {
		if slices.Contains(words, s.word(i)) {
			return i + 1
		}
	}
	return -1
}

// followed reports whether a text in quotes stands directly behind one of some keywords.
func (s part) followed(words ...string) bool {
	for i := range s.tokens {
		if slices.Contains(words, s.word(i)) && i+1 < len(s.tokens) && s.tokens[i+1].kind == tokenText {
			return true
		}
	}
	return false
}

// calls reports whether a function is called.
func (s part) calls(names []string) bool {
	for i := range s.tokens {
		if i+1 < len(s.tokens) && s.tokens[i+1].text == "(" && slices.Contains(names, strings.ToUpper(s.tokens[i].text)) && s.tokens[i].kind != tokenText {
			return true
		}
	}
	return false
}

// fillers stand between a verb and what it names.
var fillers = []string{"IF", "NOT", "EXISTS", "ONLY", "TABLE", "TEMP", "TEMPORARY", "UNLOGGED", "OR", "REPLACE", "INTO", "FROM", "IGNORE", "LOW_PRIORITY", "CONCURRENTLY"}

// named is the first name from a place on, with its schema.
func (s part) named(from int) string {
	for from >= 0 && from < len(s.tokens) && slices.Contains(fillers, s.word(from)) {
		from++
	}
	var b strings.Builder
	for i := from; i >= 0 && i < len(s.tokens); i++ {
		t := s.tokens[i]
		if name := t.kind == tokenWord || t.kind == tokenName; name != ((i-from)%2 == 0) || !name && t.text != "." {
			break
		}
		b.WriteString(t.text)
	}
	return b.String()[:min(b.Len(), 128)]
}

// read tells what a statement does. Does is "" for one that has no effect of its own, as those
// that begin and end transactions.
func (s part) read(mysql bool) trace.Statement {
	for len(s.tokens) > 0 && s.tokens[0].text == "(" {
		s.tokens = s.tokens[1:]
	}
	out := trace.Statement{Verb: s.word(0)}
	switch out.Verb {
	case "EXPLAIN":
		if i := s.after("ANALYZE", "ANALYSE"); i > 0 {
			for i < len(s.tokens) && !slices.Contains(statementWords, s.word(i)) {
				i++
			}
			if s.tokens = s.tokens[i:]; len(s.tokens) > 0 {
				return s.read(mysql)
			}
		}
		out.Does = trace.StatementReads
	case "SELECT", "TABLE", "VALUES", "SHOW", "DESCRIBE", "DESC", "WITH":
		s.query(&out)
	case "INSERT", "REPLACE", "MERGE":
		out.Does, out.Object = trace.StatementWrites, s.named(1)
	case "UPDATE":
		out.Does, out.Object = trace.StatementWrites, s.named(1)
	case "DELETE":
		out.Does, out.Object = trace.StatementDeletes, s.named(1)
		if !s.has("WHERE", "USING") {
			out.Does = trace.StatementDestroys
		}
	case "TRUNCATE":
		out.Does, out.Object = trace.StatementDestroys, s.named(1)
	case "DROP", "CREATE", "ALTER":
		s.definition(&out)
	case "COPY":
		s.copies(&out)
	case "LOAD":
		out.Does, out.Object = trace.StatementMachine, ""
		if s.has("LOCAL") {
			out.Does, out.Object = trace.StatementWrites, s.named(s.after("TABLE"))
		}
	case "GRANT", "REVOKE", "COMMENT", "DO", "CALL", "EXECUTE", "RENAME", "REFRESH", "REASSIGN", "IMPORT", "INSTALL", "HANDLER":
		out.Does = trace.StatementWrites
	}
	if out.Does != "" && s.calls(machineFunctions) {
		out.Does = trace.StatementMachine
	}
	return out
}

// statementWords begin the statements that EXPLAIN takes.
var statementWords = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "MERGE", "WITH", "VALUES", "TABLE", "CREATE", "DECLARE", "EXECUTE"}

// query reads a statement that returns rows.
func (s part) query(out *trace.Statement) {
	out.Does, out.Object = trace.StatementReads, s.named(s.after("FROM"))
	switch {
	case s.has("OUTFILE", "DUMPFILE"):
		out.Verb, out.Does = "SELECT INTO FILE", trace.StatementMachine
	case out.Verb == "WITH" && s.has("INSERT", "UPDATE", "MERGE"):
		out.Does, out.Object = trace.StatementWrites, s.named(s.after("INSERT", "UPDATE", "MERGE"))
	case out.Verb == "WITH" && s.has("DELETE"):
		out.Does, out.Object = trace.StatementDeletes, s.named(s.after("DELETE"))
	case out.Verb == "SELECT" && s.has("INTO"):
		out.Does, out.Object = trace.StatementWrites, s.named(s.after("INTO"))
	}
}

// definition reads a statement that makes, changes or removes what holds rows.
func (s part) definition(out *trace.Statement) {
	first := out.Verb
	at := 1
	for slices.Contains(fillers, s.word(at)) && s.word(at) != "TABLE" {
		at++
	}
	out.Verb, out.Object, out.Does = strings.TrimSpace(first+" "+s.word(at)), s.named(at+1), trace.StatementWrites
	switch {
	case first == "DROP" || first == "ALTER" && s.has("DROP") && s.word(at) == "TABLE":
		out.Does = trace.StatementDestroys
	case first == "ALTER" && s.word(at) == "SYSTEM":
		out.Does = trace.StatementMachine
	case first == "CREATE" && slices.Contains([]string{"EXTENSION", "LANGUAGE"}, s.word(at)) && slices.Contains(machineLanguages, strings.ToUpper(out.Object)):
		out.Does = trace.StatementMachine
	case first == "CREATE" && s.has("FUNCTION") && (s.has("SONAME") || s.inMachineLanguage()):
		out.Verb, out.Does = "CREATE FUNCTION", trace.StatementMachine
	case first == "CREATE" && s.has("TEMP", "TEMPORARY"):
		out.Does = trace.StatementReads
	}
}

func (s part) inMachineLanguage() bool {
	i := s.after("LANGUAGE")
	return i > 0 && i < len(s.tokens) && slices.Contains(machineLanguages, strings.ToUpper(s.tokens[i].text))
}

// copies reads PostgreSQL's COPY.
func (s part) copies(out *trace.Statement) {
	out.Object = s.named(1)
	switch {
	case s.has("PROGRAM"):
		out.Verb, out.Does = "COPY PROGRAM", trace.StatementMachine
	case s.followed("TO", "FROM"):
		out.Verb, out.Does = "COPY FILE", trace.StatementMachine
	case s.has("STDIN"):
		out.Does = trace.StatementWrites
	default:
		out.Does = trace.StatementReads
	}
}
