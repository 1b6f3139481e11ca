package plan

import (
	"fmt"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/canaries"
	"github.com/coalmine-dev/coalmine/sandbox"
	"github.com/coalmine-dev/coalmine/sandbox/service"
)

// CheckServices says which of the services named are known, by the names that a plan has them by.
func CheckServices(names []string, network string) ([]string, error) {
	var out []string
	for _, name := range names {
		k, err := service.Find(strings.ToLower(strings.TrimSpace(name)))
		if err != nil {
			return nil, err
		}
		if !slices.Contains(out, k.Name) {
			out = append(out, k.Name)
		}
	}
	if len(out) > 0 && (network == NetworkNone || network == NetworkRefuse) {
		return nil, &sandbox.UsageError{Err: fmt.Errorf("--service %s cannot be reached with --network %s", out[0], network), Hint: "leave --network out"}
	}
	return out, nil
}

// serviceVariables gives the server the usual variables of its services, as far as the
// configuration or the server's own source names them. What the user gave stays.
func (p Plan) serviceVariables(o *Options, source *os.Root) Plan {
	if len(p.Services) == 0 {
		return p
	}
	named := variableNames(source)
	p.Env = slices.Clone(p.Env)
	set := map[string]bool{}
	for _, name := range p.Services {
		k, err := service.Find(name)
		if err != nil {
			continue
		}
		for _, kv := range k.Variables {
			name, value, _ := strings.Cut(kv, "=")
			_, given := o.Dummies[name]
			_, configured := o.Env[name]
			if given || slices.Contains(o.PassEnv, name) || set[name] || !configured && !named[name] {
				continue
			}
			set[name] = true
			p.Env = setEnv(p.Env, Variable{Name: name, Value: value})
		}
		// A configuration's own name for an address of the service.
		for name, value := range o.Env {
			if scheme, _, ok := strings.Cut(value, "://"); ok && slices.Contains(k.Schemes, scheme) && !set[name] {
				set[name] = true
				_, address, _ := strings.Cut(k.Variables[0], "=")
				p.Env = setEnv(p.Env, Variable{Name: name, Value: address})
			}
		}
	}
	return p
}

// upper is a name as variables have it.
var upper = regexp.MustCompile(`\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*\b`)

// variableNames are the words of a source that could be names of variables.
func variableNames(source *os.Root) map[string]bool {
	return namesIn(source, func(text string) []string { return upper.FindAllString(text, maxNames) })
}

// maxAccounts bounds the accounts that a service has.
const maxAccounts = 64

// Contents are what a service of the run holds: the accounts that the server's command and
// environment name, the usual ones, and the decoy rows.
func (p *Plan) Contents(k service.Kind) service.Contents {
	c := service.Contents{Accounts: []service.Account{{User: "app", Database: service.Database}, {User: p.Identity.User, Database: p.Identity.User}}}
	texts := slices.Clone(p.Server.Command)
	for _, v := range p.Env {
		texts = append(texts, v.Value)
		a := service.Account{}
		switch {
		case strings.HasSuffix(v.Name, "USER") || strings.HasSuffix(v.Name, "USERNAME"):
			a.User = v.Value
		case strings.HasSuffix(v.Name, "DATABASE") || strings.HasSuffix(v.Name, "DB_NAME") || strings.HasSuffix(v.Name, "_DB"):
			a.Database = v.Value
		}
		c.Accounts = append(c.Accounts, a)
	}
	for _, text := range texts {
		u, err := url.Parse(text)
		if err != nil || !slices.Contains(k.Schemes, strings.ToLower(u.Scheme)) {
			continue
		}
		password, _ := u.User.Password()
		c.Accounts = append(c.Accounts, service.Account{User: u.User.Username(), Password: password, Database: strings.Trim(u.Path, "/")})
	}
	for _, user := range []string{"postgres", "root", "admin", "user", "test"} {
		c.Accounts = append(c.Accounts, service.Account{User: user})
	}
	c.Accounts = slices.DeleteFunc(c.Accounts, func(a service.Account) bool { return a.User == "" && a.Database == "" })
	c.Accounts = c.Accounts[:min(len(c.Accounts), maxAccounts)]
	for _, r := range canaries.Rows(k.Name) {
		if secret := p.Decoys.Value(r.Canary); secret != "" {
			c.Rows = append(c.Rows, service.Row{Table: r.Table, Label: r.Label, Secret: secret})
		}
	}
	return c
}
