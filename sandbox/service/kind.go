package service

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/dialect"
)

// Kind is one kind of service.
type Kind struct {
	// Name is what --service and dialect call it, Title what people do.
	Name, Title string
	Port        int
	// URL begins the addresses by which clients name it: its scheme, and others that mean the same.
	Schemes []string
	// Variables are those that clients read, as "NAME=VALUE".
	Variables []string
	// Hosts are names under which setups of containers know it.
	Hosts []string
	// program is one that the machine needs, or a pattern of its path; packaged is Debian's package.
	programs []string
	packaged string
	script   string
	seed     func(Contents) string
}

// Database is the database that a service has from the start.
const Database = "app"

// kinds are all that there are, in the order in which they are listed.
var kinds = []Kind{
	{
		Name: dialect.Postgres, Title: "PostgreSQL", Port: 5432, Schemes: []string{"postgres", "postgresql", "postgresql+psycopg2", "postgresql+psycopg", "postgresql+asyncpg"},
		Variables: []string{
			"DATABASE_URL=postgresql://app:app@localhost:5432/app", "POSTGRES_URL=postgresql://app:app@localhost:5432/app", "DATABASE_URI=postgresql://app:app@localhost:5432/app",
			"POSTGRES_CONNECTION_STRING=postgresql://app:app@localhost:5432/app", "PG_CONNECTION_STRING=postgresql://app:app@localhost:5432/app",
			"PGHOST=localhost", "PGPORT=5432", "PGUSER=app", "PGPASSWORD=app", "PGDATABASE=app",
			"POSTGRES_HOST=localhost", "POSTGRES_PORT=5432", "POSTGRES_USER=app", "POSTGRES_PASSWORD=app", "POSTGRES_DB=app", "POSTGRES_DATABASE=app",
			"DB_HOST=localhost", "DB_PORT=5432", "DB_USER=app", "DB_PASSWORD=app", "DB_NAME=app",
		},
		Hosts: []string{"postgres", "postgresql", "db", "database"}, programs: []string{"/usr/lib/postgresql/*/bin/initdb", "initdb"}, packaged: "postgresql",
		script: postgresScript, seed: postgresSeed,
	},
	{
		Name: dialect.MariaDB, Title: "MariaDB", Port: 3306, Schemes: []string{"mysql", "mariadb", "mysql+pymysql", "mysql+mysqlconnector", "mysql2"},
		Variables: []string{
			"MYSQL_URL=mysql://app:app@localhost:3306/app", "DATABASE_URL=mysql://app:app@localhost:3306/app",
			"MYSQL_HOST=127.0.0.1", "MYSQL_PORT=3306", "MYSQL_USER=app", "MYSQL_PASSWORD=app", "MYSQL_PASS=app", "MYSQL_DATABASE=app", "MYSQL_DB=app",
			"MARIADB_HOST=127.0.0.1", "MARIADB_PORT=3306", "MARIADB_USER=app", "MARIADB_PASSWORD=app", "MARIADB_DATABASE=app",
			"DB_HOST=127.0.0.1", "DB_PORT=3306", "DB_USER=app", "DB_PASSWORD=app", "DB_NAME=app",
		},
		Hosts: []string{"mysql", "mariadb", "db", "database"}, programs: []string{"mariadbd", "/usr/sbin/mariadbd"}, packaged: "mariadb-server",
		script: mariaScript, seed: mariaSeed,
	},
	{
		Name: dialect.Redis, Title: "Redis", Port: 6379, Schemes: []string{"redis"},
		Variables: []string{"REDIS_URL=redis://localhost:6379/0", "REDIS_URI=redis://localhost:6379/0", "REDIS_HOST=localhost", "REDIS_PORT=6379", "REDIS_DB=0"},
		Hosts:     []string{"redis", "cache"}, programs: []string{"redis-server"}, packaged: "redis-server",
		script: redisScript, seed: redisSeed,
	},
}

// Names lists the kinds of services.
func Names() []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = k.Name
	}
	return out
}

// Find returns the kind of a name.
func Find(name string) (Kind, error) {
	for _, k := range kinds {
		if k.Name == name || name == "postgresql" && k.Name == dialect.Postgres || name == "mysql" && k.Name == dialect.MariaDB {
			return k, nil
		}
	}
	return Kind{}, &sandbox.UsageError{Err: fmt.Errorf("there is no service %.40q", name), Hint: "--service " + strings.Join(Names(), ", ")}
}

// installed says whether this machine has the programs, which the local sandbox shows.
func (k *Kind) installed() error {
	for _, p := range k.programs {
		if found, err := filepath.Glob(p); err == nil && strings.Contains(p, "/") && len(found) > 0 {
			return nil
		}
		if _, err := exec.LookPath(p); err == nil {
			return nil
		}
	}
	return &sandbox.UsageError{Err: fmt.Errorf("--service %s: %s is not installed here", k.Name, k.Title), Hint: "install it (apt-get install " + k.packaged + "), or use --sandbox docker with an image that has it"}
}

// Account is a user and a database that clients name.
type Account struct{ User, Password, Database string }

// Row is one of a table, or a key, that is a decoy.
type Row struct {
	Table string
	// Label is what a reader takes it for, Secret the decoy's value.
	Label, Secret string
}

// Contents are what a service holds when it starts.
type Contents struct {
	Accounts []Account
	Rows     []Row
}

// tables are those of the rows, in their order.
func (c Contents) tables() []string {
	var out []string
	for _, r := range c.Rows {
		if !slices.Contains(out, r.Table) {
			out = append(out, r.Table)
		}
	}
	return out
}

// each lists one text of all accounts once, without those that no quoting could hold.
func (c Contents) each(of func(Account) string) []string {
	var out []string
	for _, a := range c.Accounts {
		if s := of(a); s != "" && len(s) <= 63 && !slices.Contains(out, s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
			out = append(out, s)
		}
	}
	return out
}
