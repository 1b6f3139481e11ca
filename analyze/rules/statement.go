package rules

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// statementWords are names of arguments that hold a statement, or a part of one, where the tool
// speaks of SQL; removalWords declare that rows, keys or what holds them go away.
var (
	statementWords = []string{"query", "statement", "statements", "command", "where", "filter", "condition", "conditions", "expression", "order_by", "orderby", "columns", "fields", "table", "table_name", "tablename", "schema"}
	sqlWords       = []string{"sql", "postgres", "postgresql", "mysql", "mariadb", "database", "db", "table", "tables"}
	removalWords   = []string{
		"delete", "deletes", "remove", "removes", "drop", "drops", "clear", "clears", "truncate", "truncates", "purge", "purges", "flush", "flushes", "reset", "resets", "wipe", "wipes",
		"erase", "erases", "destroy", "destroys", "empty", "empties", "recreate", "recreates", "rebuild", "rebuilds", "reindex", "clean", "cleans", "cleanup", "restore", "restores", "migrate", "migrates", "migration",
	}
)

// takesStatements reports whether it is the tool's declared purpose that an argument is a part of
// a statement.
func (r *Run) takesStatements(tool, at string) bool {
	name := strings.ToLower(nested(at))
	if strings.Contains(name, "sql") {
		return true
	}
	t := r.Scope.Tool(tool)
	if len(t.Code) > 0 {
		return true
	}
	parts := strings.FieldsFunc(name, func(c rune) bool { return c == '.' || c == '-' })
	return slices.ContainsFunc(parts, func(p string) bool { return slices.Contains(statementWords, p) }) && slices.ContainsFunc(sqlWords, t.Says)
}

// object is what a statement's effect names, without its schema; "" for nothing.
func object(e *finding.Effect) string {
	name := e.Told.Object
	return strings.ToLower(name[strings.LastIndexByte(name, '.')+1:])
}

// verb is the first of the service's words for what a statement's effect does.
func verb(e *finding.Effect) string {
	first, _, _ := strings.Cut(e.Told.Verb, " ")
	return first
}

// held reports whether a table or a key stood in the service before the server started.
func (r *Run) held(e *finding.Effect) bool {
	for _, c := range r.Canaries {
		if c.Kind != canaries.KindRow {
			continue
		}
		if service, table := canaries.RowTable(c); service == e.Via && (table == object(e) || strings.HasPrefix(object(e), table+":")) {
			return true
		}
	}
	return false
}

// ownObject reports whether the server itself made what a statement names, earlier in the run.
func (r *Run) ownObject(e *finding.Effect) bool {
	name := object(e)
	if name == "" {
		return false
	}
	for i := range r.Profile.Effects {
		o := &r.Profile.Effects[i]
		if o == e {
			return false
		}
		if o.Kind == finding.Statement && o.Via == e.Via && o.Told.Does == trace.StatementWrites && o.Rung != finding.RungAttempted && object(o) == name && verb(o) == "CREATE" {
			return true
		}
	}
	return false
}

// callersOwn reports whether an argument of the call holds the statement itself.
func (r *Run) callersOwn(e *finding.Effect) bool {
	if e.Call == 0 {
		return false
	}
	want := squeezed(e.Told.Text)
	if want == "" {
		return false
	}
	var args any
	if json.Unmarshal(r.Args[e.Call], &args) != nil {
		return false
	}
	found := false
	var walk func(v any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			found = found || strings.Contains(squeezed(v), want)
		case []any:
			var words []string
			for _, x := range v {
				if s, ok := x.(string); ok {
					words = append(words, s)
				}
				walk(x)
			}
			found = found || strings.Contains(squeezed(strings.Join(words, " ")), want)
		case map[string]any:
			for _, x := range v {
				walk(x)
			}
		}
	}
	walk(args)
	return found
}

// squeezed is a text in lower case with single blanks.
func squeezed(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// statements are the statements that were carried out and that do one of some things.
func (r *Run) statements(does ...string) []*finding.Effect {
	var out []*finding.Effect
	for _, e := range r.effects(finding.Statement) {
		if slices.Contains(does, e.Told.Does) && e.Rung != finding.RungAttempted {
			out = append(out, e)
		}
	}
	return out
}
