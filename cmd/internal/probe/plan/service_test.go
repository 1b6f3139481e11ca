package plan

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/service"
)

func TestServicesNeedANetworkAndAName(t *testing.T) {
	t.Parallel()
	got, err := CheckServices([]string{"PostgreSQL", "redis", "postgres"}, NetworkSinkhole)
	if err != nil || !slices.Equal(got, []string{"postgres", "redis"}) {
		t.Errorf("%q, %v", got, err)
	}
	for _, c := range []struct{ name, network string }{{"oracle", NetworkSinkhole}, {"redis", NetworkNone}, {"redis", NetworkRefuse}} {
		var usage *sandbox.UsageError
		if _, err := CheckServices([]string{c.name}, c.network); !errors.As(err, &usage) || usage.Hint == "" {
			t.Errorf("%s with %s: %v", c.name, c.network, err)
		}
	}
}

func TestVariablesOfServicesAreThoseThatAreNamed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "server.js"), []byte("const c = process.env.DATABASE_URL, d = process.env['PGHOST'], e = process.env.PGUSER"), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer source.Close()
	o := &Options{Surroundings: Surroundings{Env: map[string]string{"PGPORT": "9999", "NOTES_DB": "postgres://real:secret@db.example.com/notes"}, Dummies: map[string]string{"PGUSER": "dana"}}}
	p := Plan{Services: []string{"postgres"}, Env: []Variable{{Name: "PGUSER", Value: "dana"}, {Name: "PGPORT", Value: "9999", Secret: true}, {Name: "NOTES_DB", Value: "x", Secret: true}}}
	q := p.serviceVariables(o, source)
	want := map[string]string{
		"DATABASE_URL": "postgresql://app:app@localhost:5432/app", "PGHOST": "localhost", "PGUSER": "dana", "PGPORT": "5432", "NOTES_DB": "postgresql://app:app@localhost:5432/app",
	}
	got := map[string]string{}
	for _, v := range q.Env {
		got[v.Name] = v.Value
	}
	if len(got) != len(want) {
		t.Errorf("%q", got)
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s is %q, want %q", name, got[name], value)
		}
	}
	if len(p.Env) != 3 || p.Env[1].Value != "9999" {
		t.Errorf("the plan was changed in place: %v", p.Env)
	}
}

func TestServicesHoldWhatTheServerNames(t *testing.T) {
	t.Parallel()
	k, err := service.Find("postgres")
	if err != nil {
		t.Fatal(err)
	}
	p := Plan{
		Server: Server{Command: []string{"node", "server.js", "postgresql://reporting:pw@localhost/sales?sslmode=disable", "redis://other@localhost/1"}},
		Env:    []Variable{{Name: "PGUSER", Value: "dana"}, {Name: "PGDATABASE", Value: "notes"}}, Identity: Identity{User: "mira"},
		Decoys: canaries.FromCanaries([]canaries.Canary{{ID: "row-postgres-customers-1", Kind: canaries.KindRow, Value: "acct_x", URL: "postgres:customers"}}),
	}
	c := p.Contents(k)
	for _, a := range []service.Account{{User: "reporting", Password: "pw", Database: "sales"}, {User: "dana"}, {Database: "notes"}, {User: "mira", Database: "mira"}} {
		if !slices.Contains(c.Accounts, a) {
			t.Errorf("%+v is not among %+v", a, c.Accounts)
		}
	}
	if slices.ContainsFunc(c.Accounts, func(a service.Account) bool { return a.User == "other" }) {
		t.Error("an account of another service")
	}
	if len(c.Rows) != 1 || c.Rows[0].Secret != "acct_x" || c.Rows[0].Table != "customers" {
		t.Errorf("%+v", c.Rows)
	}
}
