package schema

import (
	"database/sql"
	"slices"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // runs what is given to tools for it
)

// A tool that names an engine gets statements that run there, behind those that run everywhere.
func TestStatementsOfAnEngine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ tool, server, desc, want string }{
		{"query", "", "Run a SQL query against PostgreSQL", "SELECT version()"},
		{"query", "", "Run a SQL query against a Postgres database", "SELECT version()"},
		{"postgres_query", "", "", "'lamp'::text"},
		{"execute_sql", "mcp-server-postgres", "", "table_schema = 'public'"},
		{"mysql_query", "", "", "SHOW TABLES"},
		{"execute_sql", "MariaDB", "", "SELECT VERSION()"},
		{"read_query", "sqlite", "", "sqlite_master"},
		{"query", "", "DuckDB SQL to run", "unnest("},
		{"run_sql", "bigquery", "", "INFORMATION_SCHEMA.SCHEMATA"},
		{"run", "", "A T-SQL statement", "@@VERSION"},
		{"run", "mssql", "", "TOP 1"},
		{"create_table", "mysql", "", "AUTO_INCREMENT"},
		{"create_table", "", "", "INTEGER PRIMARY KEY"},
		{"mysql_query", "sqlite tools", "", "SHOW TABLES"},
		{"query", "MySQL Server", "", "SHOW TABLES"}, {"query", "SQLiteExplorer", "", "sqlite_master"}, {"query", "DuckDB", "", "unnest("},
		{"queryBigQuery", "", "", "SCHEMATA"}, {"query", "PostgreSQL", "", "'lamp'::text"},
	} {
		got := sqlFor(words(c.tool), Words(c.server), strings.ToLower(c.desc))
		if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, c.want) }) || !strings.HasPrefix(c.tool, "create") && got[0] != "SELECT 1" {
			t.Errorf("%s of %q (%s): %q, want %s", c.tool, c.server, c.desc, got, c.want)
		}
	}
	for _, desc := range []string{"", "sql for postgresql or mysql"} {
		if got := sqlFor([]string{"query"}, nil, desc); !slices.Equal(got, kindValues[kSQL]) {
			t.Errorf("%q: %q", desc, got)
		}
	}
}

// What is said to be SQLite's runs there, more than once.
func TestStatementsRunOnSQLite(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() }) // nothing is kept
	db.SetMaxOpenConns(1)
	for range 2 {
		for _, tool := range []string{"create_table", "read_query", "insert", "update", "delete", "query"} {
			for _, statement := range sqlFor(words(tool), []string{"sqlite"}, "") {
				if _, err := db.Exec(statement); err != nil {
					t.Errorf("%s: %s: %v", tool, statement, err)
				}
			}
		}
	}
}
