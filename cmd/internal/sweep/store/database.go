package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // a driver
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

//go:embed *.sql
var migrations embed.FS

// Version is the schema that this program writes; an older one is brought up to it.
const Version = 3

// File is the database's name in a store's directory.
const File = "results.db"

// Store is an open database. It is safe for concurrent use.
type Store struct {
	db       *sql.DB
	postgres bool
}

// IsURL reports whether a place is the address of a PostgreSQL database, and no directory.
func IsURL(place string) bool {
	return strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://")
}

// Shown is a place without the password that an address may hold.
func Shown(place string) string {
	if !IsURL(place) {
		return place
	}
	u, err := url.Parse(place)
	if err != nil {
		return "the database"
	}
	u.RawQuery = ""
	return u.Redacted()
}

// Open opens or makes the database of a place: a directory, or an address that IsURL
// knows. The caller closes it.
func Open(ctx context.Context, place string) (*Store, error) {
	s, err := connect(place)
	if err != nil {
		return nil, err
	}
	err = s.migrate(ctx)
	// SQLite does not wait where two processes change the journal's mode at once.
	for end := time.Now().Add(busyTime); isBusy(err) && time.Now().Before(end); err = s.migrate(ctx) {
		select {
		case <-ctx.Done():
		case <-time.After(busyWait):
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", Shown(place), err), s.db.Close())
	}
	return s, nil
}

// connect opens the database of a place with the schema that it has.
func connect(place string) (s *Store, err error) {
	s = &Store{postgres: IsURL(place)}
	if s.postgres {
		s.db, err = sql.Open("pgx", place)
	} else {
		name := url.PathEscape(filepath.Join(place, File))
		s.db, err = sql.Open("sqlite", "file:"+name+"?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=foreign_keys(1)&_txlock=immediate")
	}
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", Shown(place), err)
	}
	if s.postgres {
		s.db.SetConnMaxIdleTime(time.Minute)
		s.db.SetMaxOpenConns(4)
	} else {
		s.db.SetMaxOpenConns(1) // a writer waits here instead of in SQLite
	}
	return s, nil
}

// busyTime bounds how long a database that another process holds is tried again, and busyWait is
// the time between two tries.
const busyTime, busyWait = 10 * time.Second, 20 * time.Millisecond

// isBusy reports whether another process held an SQLite database.
func isBusy(err error) bool {
	var e *sqlite.Error
	return errors.As(err, &e) && e.Code()&0xFF == sqlite3.SQLITE_BUSY
}

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// migrate brings the schema up to Version, each step in a transaction.
func (s *Store) migrate(ctx context.Context) error {
	at, err := s.version(ctx)
	if err != nil {
		return err
	}
	if at > Version {
		return fmt.Errorf("it has the schema %d, which a newer coalmine wrote; this one knows %d", at, Version)
	}
	for v := at + 1; v <= Version; v++ {
		text, err := migrations.ReadFile(fmt.Sprintf("%04d.sql", v))
		if err != nil {
			return err
		}
		if err := s.step(ctx, v, string(text)); err != nil {
			return fmt.Errorf("make the schema %d: %w", v, err)
		}
	}
	return nil
}

// version is the schema's, 0 where there is none.
func (s *Store) version(ctx context.Context) (at int, err error) {
	if !s.postgres {
		return at, s.db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&at)
	}
	var there bool
	if err := s.db.QueryRowContext(ctx, "SELECT to_regclass('coalmine_schema') IS NOT NULL").Scan(&there); err != nil || !there {
		return 0, err
	}
	return at, s.db.QueryRowContext(ctx, "SELECT max(version) FROM coalmine_schema").Scan(&at)
}

// schemaLock is a number that no other program is likely to lock.
const schemaLock = "7310386530742"

// step makes one version of the schema.
func (s *Store) step(ctx context.Context, v int, text string) error {
	return s.within(ctx, func(tx statements) error {
		// Another process may have made it since it was looked for.
		var there int
		if !s.postgres {
			if err := tx.row(ctx, "PRAGMA user_version").Scan(&there); err != nil || there >= v {
				return err
			}
			_, err := tx.exec(ctx, text+fmt.Sprintf(";PRAGMA user_version = %d", v))
			return err
		}
		if _, err := tx.exec(ctx, "SELECT pg_advisory_xact_lock("+schemaLock+")"); err != nil {
			return err
		}
		if _, err := tx.exec(ctx, "CREATE TABLE IF NOT EXISTS coalmine_schema (version BIGINT PRIMARY KEY)"); err != nil {
			return err
		}
		if err := tx.row(ctx, "SELECT count(*) FROM coalmine_schema WHERE version >= ?", v).Scan(&there); err != nil || there > 0 {
			return err
		}
		_, err := tx.exec(ctx, forPostgres.Replace(text)+fmt.Sprintf("; INSERT INTO coalmine_schema VALUES (%d)", v))
		return err
	})
}

// forPostgres turns the schema into PostgreSQL's words. Texts are ordered by their bytes, as
// SQLite does. A text is no JSON there before it is cast.
var forPostgres = strings.NewReplacer(
	" INTEGER PRIMARY KEY", " BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY",
	" INTEGER", " BIGINT", " REAL", " DOUBLE PRECISION", ") WITHOUT ROWID", ")", " TEXT", ` TEXT COLLATE "C"`,
	"j.job ->> 'name'", "CAST(j.job AS JSON) ->> 'name'",
)

// statements run in a transaction, or each by itself.
type statements struct {
	on interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
		QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
		PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
	}
	postgres bool
}

func (s *Store) direct() statements { return statements{s.db, s.postgres} }

// words numbers the parameters of a statement, which no text of ours has in quotes.
func (s statements) words(text string) string {
	if !s.postgres {
		return text
	}
	var b strings.Builder
	n := 0
	for _, r := range text {
		if r != '?' {
			b.WriteRune(r)
			continue
		}
		n++
		b.WriteString("$" + strconv.Itoa(n))
	}
	return b.String()
}

func (s statements) exec(ctx context.Context, text string, args ...any) (sql.Result, error) {
	return s.on.ExecContext(ctx, s.words(text), args...)
}

func (s statements) query(ctx context.Context, text string, args ...any) (*sql.Rows, error) {
	return s.on.QueryContext(ctx, s.words(text), args...)
}

func (s statements) row(ctx context.Context, text string, args ...any) *sql.Row {
	return s.on.QueryRowContext(ctx, s.words(text), args...)
}

func (s statements) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	return s.on.PrepareContext(ctx, s.words(text))
}

// within runs statements in one transaction.
func (s *Store) within(ctx context.Context, f func(tx statements) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(statements{tx, s.postgres}); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// plain is a text that every database takes: PostgreSQL has no NUL, and no bytes that are
// no UTF-8.
func plain(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "\uFFFD")
}
