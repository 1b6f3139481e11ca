package schema

import (
	"slices"
	"strings"
)

// dialect is what one engine understands and others may not: reading statements that need no table of the user's, and
// one that makes a table.
type dialect struct {
	// names are by what a tool, its server or a description names the engine.
	names  []string
	reads  []string
	create string
}

var dialects = []dialect{
	{
		names: []string{"postgresql", "postgres", "pgsql", "psql"},
		reads: []string{
			"SELECT table_name FROM information_schema.tables WHERE table_schema = 'public'", "SELECT version()", "SELECT 'lamp'::text AS name",
		},
		create: "CREATE TABLE IF NOT EXISTS items (id SERIAL PRIMARY KEY, name TEXT)",
	},
	{
		names:  []string{"mysql", "mariadb"},
		reads:  []string{"SHOW TABLES", "SELECT VERSION()", "SELECT `name` FROM (SELECT 'lamp' AS `name`) AS items"},
		create: "CREATE TABLE IF NOT EXISTS items (id INT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(100))",
	},
	{
		names:  []string{"sqlite", "sqlite3", "libsql"},
		reads:  []string{"SELECT name FROM sqlite_master WHERE type = 'table'", "SELECT sqlite_version()", "SELECT 'lamp' AS name"},
		create: "CREATE TABLE IF NOT EXISTS items (id INTEGER PRIMARY KEY, name TEXT)",
	},
	{
		names:  []string{"duckdb", "motherduck"},
		reads:  []string{"SHOW TABLES", "SELECT version()", "SELECT unnest(['lamp', 'bench']) AS name"},
		create: "CREATE TABLE IF NOT EXISTS items (id INTEGER DEFAULT 1, name VARCHAR)",
	},
	{
		names:  []string{"bigquery"},
		reads:  []string{"SELECT schema_name FROM INFORMATION_SCHEMA.SCHEMATA", "SELECT SESSION_USER()", "SELECT name FROM UNNEST(['lamp', 'bench']) AS name"},
		create: "CREATE TEMP TABLE items (id INT64, name STRING)",
	},
	{
		names:  []string{"t-sql", "tsql", "mssql", "sql server", "sqlserver", "transact-sql", "azure sql"},
		reads:  []string{"SELECT TABLE_NAME FROM INFORMATION_SCHEMA.TABLES", "SELECT @@VERSION", "SELECT TOP 1 N'lamp' AS name"},
		create: "IF OBJECT_ID('items') IS NULL CREATE TABLE items (id INT IDENTITY PRIMARY KEY, name NVARCHAR(100))",
	},
}

// whole joins names of engines that capitals part into words, and restores one that looks like a plural: the first that fits counts.
var whole = strings.NewReplacer("my sql", "mysql", "ms sql", "mssql", "sq lite", "sqlite", "duck db", "duckdb", "maria db", "mariadb", "big query", "bigquery",
	"postgre sql", "postgresql", "postgresql", "postgresql", "postgre", "postgres")

// dialectOf is the engine that a tool is for: its own name says it first, then its description, then what its
// server is. It is nil where they name none, or several.
func dialectOf(tool, server []string, desc string) *dialect {
	for _, text := range []string{whole.Replace(strings.Join(tool, " ")), desc, whole.Replace(strings.Join(server, " "))} {
		var found []*dialect
		for i := range dialects {
			d := &dialects[i]
			if slices.ContainsFunc(d.names, func(name string) bool { return containsWords(text, name) }) {
				found = append(found, d)
			}
		}
		if len(found) > 0 {
			if len(found) > 1 {
				return nil
			}
			return found[0]
		}
	}
	return nil
}

// sqlFor are statements of the sort that a tool is for: in words that most dialects share, and in those of
// the engine that it names.
func sqlFor(tool, server []string, desc string) []string {
	in := func(w string) bool { return any2(tool, w) || containsWords(desc, w) }
	engine := dialectOf(tool, server, desc)
	reading := kindValues[kSQL]
	if engine != nil {
		reading = slices.Concat(reading[:1:1], engine.reads, reading[1:])
	}
	switch {
	case any2(tool, "create") || containsWords(desc, "create table"):
		if engine != nil {
			return []string{engine.create}
		}
		return []string{"CREATE TABLE IF NOT EXISTS items (id INTEGER PRIMARY KEY, name TEXT)"}
	case any2(tool, "read", "select"):
		return reading
	case any2(tool, "write", "insert") || in("insert") && !in("select"):
		return []string{"INSERT INTO items (name) VALUES ('lamp')"}
	case any2(tool, "update") || in("update") && !in("select"):
		return []string{"UPDATE items SET name = 'lamp' WHERE id = 1"}
	case any2(tool, "delete"):
		return []string{"DELETE FROM items WHERE id = 0"}
	}
	return reading
}
