package dialect

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

func TestBareIsWhatStandsOutsideOfQuotes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		sql   string
		mysql bool
		want  []string
	}{
		{"SELECT 'a;b', \"c;d\" FROM t; SELECT 2", false, []string{`SELECT '' , "" FROM t`, "SELECT 2"}},
		{"SELECT 'it''s' -- x ' y\n, 3", false, []string{"SELECT '' , 3"}},
		{"SELECT /* a /* b */ ' */ 1", false, []string{"SELECT 1"}},
		{"SELECT $$a'; DROP$$, $x$ $$ $x$, $1", false, []string{"SELECT '' , '' , $ 1"}},
		{`SELECT E'a\'b', 'c\', d`, false, []string{"SELECT '' , '' , d"}},
		{`SELECT 'a\'b', "c", d # e`, true, []string{"SELECT '' , '' , d"}},
		{"SELECT `a;b` /*! , c */", true, []string{`SELECT "" , c * /`}},
		{"SELECT 'open", false, []string{"SELECT ''"}},
		{" ; ;", false, nil},
	} {
		var got []string
		for _, p := range split(c.sql, c.mysql) {
			got = append(got, p.bare())
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", c.sql, got, c.want)
		}
	}
}

func TestStatementsAreToldByWhatTheyDo(t *testing.T) {
	t.Parallel()
	for sql, want := range map[string]string{
		"select * from public.notes": "SELECT reads public.notes",
		"(SELECT 1)":                 "SELECT reads ",
		"WITH x AS (DELETE FROM notes RETURNING *) SELECT * FROM x":    "WITH deletes notes",
		"WITH x AS (SELECT 1) INSERT INTO notes SELECT * FROM x":       "WITH writes notes",
		"SELECT * INTO copy FROM notes":                                "SELECT writes copy",
		"INSERT INTO \"my notes\" VALUES (1)":                          "INSERT writes my notes",
		"UPDATE notes SET a = 1":                                       "UPDATE writes notes",
		"DELETE FROM notes WHERE id = 1":                               "DELETE deletes notes",
		"DELETE FROM notes":                                            "DELETE destroys notes",
		"TRUNCATE TABLE notes":                                         "TRUNCATE destroys notes",
		"DROP TABLE IF EXISTS notes":                                   "DROP TABLE destroys notes",
		"ALTER TABLE notes DROP COLUMN a":                              "ALTER TABLE destroys notes",
		"ALTER TABLE notes ADD COLUMN a int":                           "ALTER TABLE writes notes",
		"CREATE TABLE IF NOT EXISTS notes (id int)":                    "CREATE TABLE writes notes",
		"CREATE TEMP TABLE scratch (id int)":                           "CREATE TABLE reads scratch",
		"CREATE EXTENSION plpython3u":                                  "CREATE EXTENSION machine plpython3u",
		"CREATE EXTENSION pg_trgm":                                     "CREATE EXTENSION writes pg_trgm",
		"CREATE OR REPLACE FUNCTION f() RETURNS int AS 'x' LANGUAGE c": "CREATE FUNCTION machine f",
		"COPY notes TO PROGRAM 'id'":                                   "COPY PROGRAM machine notes",
		"COPY notes FROM '/etc/passwd'":                                "COPY FILE machine notes",
		"COPY notes FROM STDIN":                                        "COPY writes notes",
		"COPY notes TO STDOUT":                                         "COPY reads notes",
		"SELECT pg_read_file('/etc/passwd')":                           "SELECT machine ",
		"SELECT 'pg_read_file('":                                       "SELECT reads ",
		"EXPLAIN DELETE FROM notes":                                    "EXPLAIN reads ",
		"EXPLAIN ANALYZE DELETE FROM notes":                            "DELETE destroys notes",
		"SELECT a FROM notes INTO OUTFILE '/tmp/x'":                    "SELECT INTO FILE machine notes",
		"BEGIN":               "BEGIN  ",
		"SET search_path = x": "SET  ",
	} {
		parts := split(sql, false)
		if len(parts) != 1 {
			t.Fatalf("%s: %d parts", sql, len(parts))
		}
		s := parts[0].read(false)
		if got := s.Verb + " " + s.Does + " " + s.Object; got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}
	for line, want := range map[string]string{
		"SET a 1": "SET writes a", "get a": "GET reads a", "FLUSHALL": "FLUSHALL destroys ", "CONFIG SET dir /tmp": "CONFIG SET machine dir", "CONFIG GET dir": "CONFIG GET reads dir",
		"CONFIG SET maxmemory 1": "CONFIG SET writes maxmemory", "MODULE LIST": "MODULE LIST reads ", "MODULE LOAD /x.so": "MODULE LOAD machine /x.so", "DEL a": "DEL deletes a", "PING": "PING  ",
	} {
		s := redisStatement(strings.Fields(line))
		if got := s.Verb + " " + s.Does + " " + s.Object; got != want {
			t.Errorf("%s: %q, want %q", line, got, want)
		}
	}
}

// pgMessage is one of PostgreSQL's, with a type or without.
func pgMessage(kind, body string) string {
	return kind + string(binary.BigEndian.AppendUint32(nil, uint32(len(body)+4))) + body
}

// myPacket is one of MySQL's.
func myPacket(number byte, body string) string {
	return string([]byte{byte(len(body)), byte(len(body) >> 8), 0, number}) + body
}

// said is one side's turn in a conversation: "<" is the server's.
type said struct{ who, text string }

var (
	pgStart = said{">", pgMessage("", "\x00\x03\x00\x00user\x00app\x00\x00")}
	pgQuery = func(sql string) said { return said{">", pgMessage("Q", sql+"\x00")} }
	pgDone  = func(status string, tags ...string) said {
		var b strings.Builder
		for _, tag := range tags {
			if tag == "!" {
				b.WriteString(pgMessage("E", "SERROR\x00Mno\x00\x00"))
				continue
			}
			b.WriteString(pgMessage("C", tag+"\x00"))
		}
		return said{"<", b.String() + pgMessage("Z", status)}
	}
)

// conversations are what was said to a service, and what is told of it.
var conversations = []struct {
	name, service string
	said          []said
	want          string
}{
	{"simple", Postgres, []said{pgStart, pgDone("I"), pgQuery("DROP TABLE a; SELECT 1"), pgDone("I", "DROP TABLE", "SELECT 1")}, "DROP TABLE a; SELECT"},
	{"refused with what came before", Postgres, []said{pgStart, pgDone("I"), pgQuery("DROP TABLE a; nonsense; DROP TABLE b"), pgDone("I", "DROP TABLE", "!")}, "DROP TABLE a undone"},
	{"rolled back", Postgres, []said{pgStart, pgDone("I"), pgQuery("BEGIN"), pgDone("T", "BEGIN"), pgQuery("DROP TABLE a"), pgDone("T", "DROP TABLE"), pgQuery("ROLLBACK"), pgDone("I", "ROLLBACK")}, "DROP TABLE a undone"},
	{"back to a savepoint", Postgres, []said{pgStart, pgDone("I"), pgQuery("BEGIN"), pgDone("T", "BEGIN"), pgQuery("DROP TABLE a"), pgDone("T", "DROP TABLE"), pgQuery("ROLLBACK TO s"), pgDone("T", "ROLLBACK"), pgQuery("COMMIT"), pgDone("I", "COMMIT")}, "DROP TABLE a"},
	{"after COMMIT", Postgres, []said{pgStart, pgDone("I"), pgQuery("BEGIN READ ONLY"), pgDone("T", "BEGIN"), pgQuery("COMMIT; DROP TABLE a"), pgDone("I", "COMMIT", "DROP TABLE")}, "DROP TABLE a"},
	{"never ended", Postgres, []said{pgStart, pgDone("I"), pgQuery("BEGIN"), pgDone("T", "BEGIN"), pgQuery("DROP TABLE a"), pgDone("T", "DROP TABLE")}, "DROP TABLE a undone"},
	{"a program is not undone", Postgres, []said{pgStart, pgDone("I"), pgQuery("BEGIN"), pgDone("T", "BEGIN"), pgQuery("COPY a TO PROGRAM 'id'"), pgDone("T", "COPY 1")}, "COPY PROGRAM a"},
	{"prepared", Postgres, []said{
		{">", pgMessage("", "\x04\xd2\x16\x2f")}, {"<", "N"}, pgStart, pgDone("I"),
		{">", pgMessage("P", "s\x00DELETE FROM a\x00\x00\x00") + pgMessage("B", "\x00s\x00") + pgMessage("E", "\x00\x00\x00\x00\x00") + pgMessage("S", "")},
		{"<", pgMessage("1", "") + pgMessage("2", "") + pgMessage("C", "DELETE 3\x00") + pgMessage("Z", "I")},
	}, "DELETE a"},
	{"prepared and refused", Postgres, []said{
		pgStart, pgDone("I"),
		{">", pgMessage("P", "\x00DELETE FROM a\x00\x00\x00") + pgMessage("B", "\x00\x00") + pgMessage("E", "\x00\x00\x00\x00\x00") + pgMessage("S", "")},
		{"<", pgMessage("E", "Mno\x00\x00") + pgMessage("Z", "I")}, pgQuery("SELECT 1"), pgDone("I", "SELECT 1"),
	}, "DELETE a refused; SELECT"},
	{"encrypted", Postgres, []said{{">", pgMessage("", "\x04\xd2\x16\x2f")}, {"<", "S"}}, "lost: the connection to the service is encrypted"},
	{"commands", Redis, []said{{">", "*3\r\n$3\r\nSET\r\n$1\r\na\r\n$1\r\nb\r\n*1\r\n$8\r\nFLUSHALL\r\nGET a\r\n"}, {"<", "+OK\r\n-ERR no\r\n$1\r\nb\r\n"}}, "SET a; FLUSHALL refused; GET a"},
	{"discarded", Redis, []said{{">", "MULTI\r\nFLUSHALL\r\nDISCARD\r\n"}, {"<", "+OK\r\n+QUEUED\r\n+OK\r\n"}}, "FLUSHALL undone"},
	{"carried out together", Redis, []said{{">", "MULTI\r\nFLUSHALL\r\nEXEC\r\n"}, {"<", "+OK\r\n+QUEUED\r\n*1\r\n+OK\r\n"}}, "FLUSHALL"},
	{"nested answers", Redis, []said{{">", "HGETALL a\r\nFLUSHDB\r\n"}, {"<", "*2\r\n*1\r\n$2\r\nab\r\n%1\r\n+k\r\n:1\r\n>2\r\n+message\r\n+x\r\n+OK\r\n"}}, "HGETALL a; FLUSHDB"},
	{"no RESP", Redis, []said{{">", "\x00\x01\x02\n"}}, "lost: " + errMalformed.Error()},
	{"queries", MariaDB, []said{
		{"<", myPacket(0, "\x0a10.11\x00")}, {">", myPacket(1, strings.Repeat("\x00", 40))}, {"<", myPacket(2, "\x00\x00\x00")},
		{">", myPacket(0, "\x03DROP TABLE a")}, {"<", myPacket(1, "\x00\x00\x00")}, {">", myPacket(0, "\x03DROP TABLE b")}, {"<", myPacket(1, "\xff\x01\x02#42000no")},
	}, "DROP TABLE a; DROP TABLE b refused"},
	{"without autocommit", MariaDB, []said{
		{">", myPacket(1, strings.Repeat("\x00", 40))}, {">", myPacket(0, "\x03SET autocommit=0")}, {"<", myPacket(1, "\x00")},
		{">", myPacket(0, "\x03DELETE FROM a")}, {"<", myPacket(1, "\x00")}, {">", myPacket(0, "\x03ROLLBACK")}, {"<", myPacket(1, "\x00")},
		{">", myPacket(0, "\x03DELETE FROM b")}, {"<", myPacket(1, "\x00")}, {">", myPacket(0, "\x03COMMIT")}, {"<", myPacket(1, "\x00")},
	}, "DELETE a undone; DELETE b"},
	{"stored", MariaDB, []said{
		{">", myPacket(1, strings.Repeat("\x00", 40))}, {">", myPacket(0, "\x16DELETE FROM a")}, {"<", myPacket(1, "\x00\x07\x00\x00\x00")}, {">", myPacket(0, "\x17\x07\x00\x00\x00")}, {"<", myPacket(1, "\x00")},
	}, "DELETE a"},
}

// hear follows a conversation, in pieces of at most so many bytes.
func hear(service string, list []said, piece int) string {
	var out []string
	r := New(service, func(s trace.Statement) {
		text := strings.TrimSpace(s.Verb + " " + s.Object)
		if s.Refused {
			text += " refused"
		}
		if s.Undone {
			text += " undone"
		}
		out = append(out, text)
	}, func(why string) { out = append(out, "lost: "+why) })
	for _, s := range list {
		for p := range slices.Chunk([]byte(s.text), piece) {
			if s.who == ">" {
				r.Client(p, time.Second)
			} else {
				r.Server(p)
			}
		}
	}
	r.Close()
	return strings.Join(out, "; ")
}

func TestConversations(t *testing.T) {
	t.Parallel()
	for _, c := range conversations {
		for _, piece := range []int{1, 3, 1 << 20} {
			if got := hear(c.service, c.said, piece); got != c.want {
				t.Errorf("%s, %s, in pieces of %d: %q, want %q", c.service, c.name, piece, got, c.want)
			}
		}
	}
}

func TestLongTextsAreSkipped(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 3*maxMessage)
	got := hear(Redis, []said{{">", fmt.Sprintf("*3\r\n$3\r\nSET\r\n$1\r\na\r\n$%d\r\n%s\r\n*1\r\n$8\r\nFLUSHALL\r\n", len(long), long)}, {"<", "+OK\r\n+OK\r\n"}}, 1000)
	if got != "SET a; FLUSHALL" {
		t.Errorf("redis: %q", got)
	}
	got = hear(Postgres, []said{pgStart, pgDone("I"), pgQuery("SELECT '" + long + "'"), pgDone("I", "SELECT 1"), pgQuery("DROP TABLE a"), pgDone("I", "DROP TABLE")}, 1000)
	if got != "SELECT; DROP TABLE a" {
		t.Errorf("postgres: %q", got)
	}
}

// FuzzReader checks that no bytes break a Reader, and that it does not matter how they are cut.
func FuzzReader(f *testing.F) {
	for _, c := range conversations {
		var up, down strings.Builder
		for _, s := range c.said {
			if s.who == ">" {
				up.WriteString(s.text)
			} else {
				down.WriteString(s.text)
			}
		}
		f.Add(c.service, up.String(), down.String())
	}
	f.Fuzz(func(t *testing.T, service, up, down string) {
		if New(service, nil, nil) == nil {
			t.Skip()
		}
		list := []said{{">", up}, {"<", down}}
		whole := hear(service, list, 1<<20)
		if cut := hear(service, list, 1); cut != whole {
			t.Errorf("%q in one piece, %q byte by byte", whole, cut)
		}
	})
}
