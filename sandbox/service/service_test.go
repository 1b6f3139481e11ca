package service

import (
	"strings"
	"testing"
)

func TestSeedsQuoteWhatTheyAreGiven(t *testing.T) {
	t.Parallel()
	c := Contents{
		Accounts: []Account{{User: `a"b`, Database: "d`e"}, {User: "postgres", Database: "postgres"}, {User: "line\nbreak"}, {User: `a"b`}},
		Rows:     []Row{{Table: "customers", Label: "O'Hara", Secret: "acct_1"}, {Table: "customers", Label: "Voss", Secret: "acct_2"}},
	}
	for _, k := range kinds {
		seed := k.seed(c)
		if strings.Contains(seed, "line") || !strings.Contains(seed, "acct_1") || strings.Contains(seed, " O'Hara'") {
			t.Errorf("%s: %s", k.Name, seed)
		}
	}
	want := `CREATE TABLE "customers" (id serial PRIMARY KEY, name text NOT NULL, reference text NOT NULL);
INSERT INTO "customers" (name, reference) VALUES ('O''Hara', 'acct_1');
INSERT INTO "customers" (name, reference) VALUES ('Voss', 'acct_2');
CREATE ROLE "a""b" SUPERUSER LOGIN;
DROP DATABASE postgres;
CREATE DATABASE "postgres";
`
	if got := postgresSeed(Contents{Accounts: append(c.Accounts[:1:1], c.Accounts[1]), Rows: c.Rows}); got != strings.Replace(want, "CREATE DATABASE \"postgres\";\n", "CREATE DATABASE \"postgres\";\nCREATE DATABASE \"d`e\";\n", 1) {
		t.Errorf("%s", got)
	}
	if got := mariaSeed(c); !strings.Contains(got, "CREATE DATABASE IF NOT EXISTS `d``e`;\n") {
		t.Errorf("%s", got)
	}
}

func TestServicesAreFoundByTheirUsualNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"postgres": "postgres", "postgresql": "postgres", "mysql": "mariadb", "redis": "redis"} {
		if k, err := Find(name); err != nil || k.Name != want {
			t.Errorf("%s: %s, %v", name, k.Name, err)
		}
	}
	if _, err := Find("oracle"); err == nil {
		t.Error("there is no such service")
	}
	ports := map[int]bool{}
	for _, k := range kinds {
		if ports[k.Port] || k.packaged == "" || len(k.Schemes) == 0 || len(k.Variables) == 0 {
			t.Errorf("%s is not whole, or its port is another's", k.Name)
		}
		ports[k.Port] = true
		for _, v := range k.Variables {
			if name, value, ok := strings.Cut(v, "="); !ok || name == "" || value == "" {
				t.Errorf("%s: %q", k.Name, v)
			}
		}
	}
}
