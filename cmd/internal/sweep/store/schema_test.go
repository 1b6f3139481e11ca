package store

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write docs/sweep-schema.md anew")

const schemaPage = "../../../../docs/sweep-schema.md"

const schemaIntro = `# The tables of sweeps

` + "`coalmine sweep` keeps its results in SQLite, in `results.db` below `--store`, or in PostgreSQL ([sweeps](sweep.md)). Both have these tables, of the\n" +
	"schema %d. SQLite has that number in `PRAGMA user_version`, and PostgreSQL in the table `coalmine_schema`.\n\n" +
	"A newer coalmine brings an older schema up to its own, and an older one refuses a newer. Read what you like, and leave the writing to coalmine.\n" +
	"This page is made from [the migrations](../cmd/internal/sweep/store).\n\n" +
	"The findings of the last finished sweep:\n\n```sql\n%s\n```\n"

const schemaQuery = `SELECT r.key, r.version, f.severity, f.rule, f.message
FROM jobs j JOIN results r ON r.id = j.result JOIN findings f ON f.result = r.id
WHERE j.sweep = (SELECT max(id) FROM sweeps WHERE finished IS NOT NULL)
ORDER BY r.key, f.rule;`

// The page of the schema is what the migrations make, and each column says what it holds.
func TestSchemaPage(t *testing.T) {
	t.Parallel()
	s, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if rows, err := s.db.QueryContext(t.Context(), schemaQuery); err != nil {
		t.Error(err)
	} else if err := rows.Close(); err != nil {
		t.Error(err)
	}
	said := comments(t)
	var b strings.Builder
	fmt.Fprintf(&b, schemaIntro, Version, schemaQuery)
	for _, table := range texts(t, s.db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name") {
		if said[table] == "" {
			t.Errorf("no comment says what %s is", table)
		}
		fmt.Fprintf(&b, "\n## %s\n\n%s\n\n| column | SQLite | PostgreSQL | holds |\n|---|---|---|---|\n", table, said[table])
		columns(t, s.db, table, said, &b)
		for _, index := range texts(t, s.db, "SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name = '"+table+"' ORDER BY name") {
			_, of, _ := strings.Cut(index, " (")
			fmt.Fprintf(&b, "\nAn index holds (%s.\n", of)
		}
	}
	if *update {
		if err := os.WriteFile(schemaPage, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	kept, err := os.ReadFile(schemaPage)
	if diff := cmp.Diff(string(kept), b.String()); err != nil || diff != "" {
		t.Errorf("%v\n%s\ngo test ./cmd/internal/sweep/store -run TestSchemaPage -update writes it anew", err, diff)
	}
}

// columns writes a row for each column of a table.
func columns(t *testing.T, db *sql.DB, table string, said map[string]string, b *strings.Builder) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT c.name, c.type, c."notnull", c.pk, coalesce(k."table" || '.' || k."to", '')
		FROM pragma_table_info(?) c LEFT JOIN pragma_foreign_key_list(?) k ON k."from" = c.name ORDER BY c.cid`, table, table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name, kind, of string
		var notNull bool
		var pk int
		if err := rows.Scan(&name, &kind, &notNull, &pk, &of); err != nil {
			t.Fatal(err)
		}
		holds := said[table+"."+name]
		if holds == "" {
			t.Errorf("no comment says what %s.%s holds", table, name)
		}
		if pk > 0 {
			holds += "; part of the primary key"
		}
		if of != "" {
			holds += "; refers to " + of
		}
		if !notNull && pk == 0 {
			kind += ", may be NULL"
		}
		if kind == "INTEGER" && pk > 0 && name == "id" {
			kind += " PRIMARY KEY"
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", name, kind, strings.TrimSpace(forPostgres.Replace(" "+kind)), holds)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

func texts(t *testing.T, db *sql.DB, query string) (out []string) {
	t.Helper()
	rows, err := db.QueryContext(context.Background(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		out = append(out, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

var (
	newTable  = regexp.MustCompile(`^CREATE TABLE (\w+) \($`)
	newColumn = regexp.MustCompile(`^  ([a-z]+) +[A-Z].*?-- ?(.*)$`)
)

// comments are what the migrations say of tables, and of their columns as "table.column"; the
// last one holds.
func comments(t *testing.T) map[string]string {
	t.Helper()
	files, err := migrations.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range files {
		data, err := migrations.ReadFile(f.Name())
		if err != nil {
			t.Fatal(err)
		}
		var above []string
		table := ""
		for line := range strings.Lines(string(data)) {
			line = strings.TrimRight(line, "\n")
			if m := newTable.FindStringSubmatch(line); m != nil {
				table = m[1]
				if len(above) > 0 {
					out[table] = strings.Join(above, " ")
				}
			} else if m := newColumn.FindStringSubmatch(line); m != nil {
				out[table+"."+m[1]] = m[2]
			}
			if text, ok := strings.CutPrefix(line, "-- "); ok {
				above = append(slices.Clip(above), text)
			} else if !strings.HasPrefix(line, "ALTER TABLE") {
				above = nil
			}
		}
	}
	return out
}
