package service

import (
	"fmt"
	"strings"
)

// seedFile is where a service's script finds what it is to hold, below its HOME.
const seedFile = "seed"

// postgresScript makes a cluster, fills it before anybody can connect, and serves it. A client may
// say any password, as with the image that most setups use, where its user is a superuser too.
const postgresScript = `set -e
for d in /usr/local/bin /usr/bin /usr/local/pgsql/bin /usr/lib/postgresql/*/bin; do
	[ -x "$d/initdb" ] && [ -x "$d/postgres" ] && bin=$d
done
[ -n "$bin" ] || { echo 'PostgreSQL is not installed here' >&2; exit 127; }
"$bin/initdb" -D "$HOME/data" -U postgres -A trust -E UTF8 --locale=C --no-sync >/dev/null
"$bin/postgres" --single -F -D "$HOME/data" template1 <"$HOME/seed" >/dev/null
exec "$bin/postgres" -F -D "$HOME/data" -c listen_addresses=127.0.0.1 -c port=5432 -c unix_socket_directories= \
	-c max_connections=64 -c shared_buffers=16MB -c dynamic_shared_memory_type=mmap -c autovacuum=off -c max_wal_senders=0 -c log_min_messages=fatal
`

// postgresSeed is one statement a line, as the server reads them in its single-user mode. What
// stands in template1 is in each database that is made of it.
func postgresSeed(c Contents) string {
	var b strings.Builder
	line := func(format string, a ...any) { fmt.Fprintf(&b, format+"\n", a...) }
	for _, t := range c.tables() {
		line(`CREATE TABLE %s (id serial PRIMARY KEY, name text NOT NULL, reference text NOT NULL);`, sqlName(t, `"`))
	}
	for _, r := range c.Rows {
		line(`INSERT INTO %s (name, reference) VALUES (%s, %s);`, sqlName(r.Table, `"`), sqlText(r.Label), sqlText(r.Secret))
	}
	for _, user := range c.each(func(a Account) string { return a.User }) {
		if user != "postgres" {
			line(`CREATE ROLE %s SUPERUSER LOGIN;`, sqlName(user, `"`))
		}
	}
	line(`DROP DATABASE postgres;`)
	for _, db := range append([]string{"postgres"}, c.each(func(a Account) string { return a.Database })...) {
		if db != "template0" && db != "template1" && (db != "postgres" || !strings.Contains(b.String(), `CREATE DATABASE "postgres"`)) {
			line(`CREATE DATABASE %s;`, sqlName(db, `"`))
		}
	}
	return b.String()
}

// mariaScript serves an empty directory without asking who anybody is: no table of the system's is
// needed for that.
const mariaScript = `set -e
PATH=$PATH:/usr/sbin:/usr/local/sbin
command -v mariadbd >/dev/null || { echo 'MariaDB is not installed here' >&2; exit 127; }
mkdir -p "$HOME/data"
exec mariadbd --no-defaults --datadir="$HOME/data" --tmpdir="$HOME" --socket="$HOME/s" --pid-file="$HOME/pid" --bind-address=127.0.0.1 --port=3306 \
	--skip-grant-tables --init-file="$HOME/seed" --innodb-buffer-pool-size=16M --innodb-flush-log-at-trx-commit=0 --innodb-use-native-aio=0 --skip-log-bin --max-connections=64
`

// mariaSeed is one statement a line, as an init file has them.
func mariaSeed(c Contents) string {
	var b strings.Builder
	for _, db := range c.each(func(a Account) string { return a.Database }) {
		db = sqlName(db, "`")
		fmt.Fprintf(&b, "CREATE DATABASE IF NOT EXISTS %s;\n", db)
		for _, t := range c.tables() {
			fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s.%s (id int AUTO_INCREMENT PRIMARY KEY, name varchar(200) NOT NULL, reference varchar(200) NOT NULL);\n", db, sqlName(t, "`"))
		}
		for _, r := range c.Rows {
			fmt.Fprintf(&b, "INSERT INTO %s.%s (name, reference) VALUES (%s, %s);\n", db, sqlName(r.Table, "`"), sqlText(r.Label), sqlText(r.Secret))
		}
	}
	return b.String()
}

// redisScript lets clients change where files are written and load modules, as versions before 7 do.
const redisScript = `set -e
command -v redis-server >/dev/null || { echo 'Redis is not installed here' >&2; exit 127; }
more=
case $(redis-server --version) in *v=[7-9]*) more='--enable-protected-configs yes --enable-debug-command yes --enable-module-command yes' ;; esac
mkdir -p "$HOME/data"
cd "$HOME/data"
exec redis-server --bind 127.0.0.1 --port 6379 --protected-mode no --save '' --appendonly no --dir "$HOME/data" --daemonize no $more
`

// redisSeed is what is said to the server once it listens.
func redisSeed(c Contents) string {
	var b strings.Builder
	for i, r := range c.Rows {
		words := []string{"HSET", fmt.Sprintf("%s:%d", r.Table, i+1), "name", r.Label, "reference", r.Secret}
		fmt.Fprintf(&b, "*%d\r\n", len(words))
		for _, w := range words {
			fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
		}
	}
	return b.String()
}

// sqlName is a name in quotes, and sqlText a text.
func sqlName(s, quote string) string {
	return quote + strings.ReplaceAll(s, quote, quote+quote) + quote
}

func sqlText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }
