package audit

import (
	"slices"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// EnvCredential is the rule for a well-known credential of the environment that the source reads.
const EnvCredential = "env-credential"

// envCredentials are variables by which well-known services know their user, with words by which a declaration speaks
// of the service.
var envCredentials = map[string][]string{
	"GITHUB_TOKEN": {"github"}, "GH_TOKEN": {"github", "gh"}, "GITHUB_PERSONAL_ACCESS_TOKEN": {"github"}, "GITLAB_TOKEN": {"gitlab"}, "BITBUCKET_TOKEN": {"bitbucket"},
	"OPENAI_API_KEY": {"openai", "gpt", "chatgpt", "llm", "embedding", "embeddings", "dall", "whisper"}, "ANTHROPIC_API_KEY": {"anthropic", "claude", "llm"},
	"GEMINI_API_KEY": {"gemini", "google", "llm"}, "GOOGLE_API_KEY": {"google", "gemini", "maps", "youtube"}, "GOOGLE_APPLICATION_CREDENTIALS": {"google", "gcp", "gcloud", "firebase", "bigquery"},
	"MISTRAL_API_KEY": {"mistral", "llm"}, "GROQ_API_KEY": {"groq", "llm"}, "OPENROUTER_API_KEY": {"openrouter", "llm"}, "HF_TOKEN": {"huggingface", "hugging"}, "HUGGINGFACE_TOKEN": {"huggingface", "hugging"},
	"AWS_ACCESS_KEY_ID": {"aws", "amazon", "s3", "dynamodb", "bedrock", "minio", "r2"}, "AWS_SECRET_ACCESS_KEY": {"aws", "amazon", "s3", "dynamodb", "bedrock", "minio", "r2"}, "AWS_SESSION_TOKEN": {"aws", "amazon", "s3", "bedrock"},
	"AZURE_CLIENT_SECRET": {"azure", "microsoft"}, "AZURE_OPENAI_API_KEY": {"azure", "openai"}, "CLOUDFLARE_API_TOKEN": {"cloudflare"}, "DIGITALOCEAN_TOKEN": {"digitalocean"},
	"NPM_TOKEN": {"npm", "registry"}, "NODE_AUTH_TOKEN": {"npm", "registry"}, "PYPI_TOKEN": {"pypi"}, "TWINE_PASSWORD": {"pypi"},
	"SLACK_BOT_TOKEN": {"slack"}, "SLACK_TOKEN": {"slack"}, "DISCORD_TOKEN": {"discord"}, "TELEGRAM_BOT_TOKEN": {"telegram"}, "NOTION_TOKEN": {"notion"}, "NOTION_API_KEY": {"notion"}, "LINEAR_API_KEY": {"linear"},
	"JIRA_API_TOKEN": {"jira", "atlassian"}, "STRIPE_SECRET_KEY": {"stripe", "payment", "payments"}, "STRIPE_API_KEY": {"stripe", "payment", "payments"}, "SENDGRID_API_KEY": {"sendgrid", "mail", "email"}, "TWILIO_AUTH_TOKEN": {"twilio", "sms"},
	"DATABASE_URL": {"database", "databases", "db", "postgres", "postgresql", "mysql", "mariadb", "sqlite", "sql", "mongodb"}, "PGPASSWORD": {"postgres", "postgresql", "database", "sql"}, "REDIS_URL": {"redis"}, "MONGODB_URI": {"mongo", "mongodb", "database"},
	"VAULT_TOKEN": {"vault", "hashicorp"}, "KUBECONFIG": {"kubernetes", "kubectl", "kubeconfig", "k8s", "cluster", "clusters"}, "DOCKER_PASSWORD": {"docker"}, "SSH_AUTH_SOCK": {"ssh", "git", "agent"},
}

// connectionClients are the modules that connect to what a variable of a connection names.
var connectionClients = map[string][]string{
	"REDIS_URL":    {"redis", "redis.asyncio", "ioredis", "aioredis", "@redis/client", "@upstash/redis", "bullmq"},
	"DATABASE_URL": {"pg", "postgres", "psycopg", "psycopg2", "asyncpg", "sqlalchemy", "mysql", "mysql2", "mysql2/promise", "mariadb", "pymysql", "aiomysql", "better-sqlite3", "sqlite3", "aiosqlite", "knex", "sequelize", "typeorm", "kysely", "drizzle-orm", "@prisma/client"},
	"PGPASSWORD":   {"pg", "postgres", "psycopg", "psycopg2", "asyncpg", "sqlalchemy"},
	"MONGODB_URI":  {"mongodb", "mongoose", "pymongo", "motor", "motor.motor_asyncio"},
}

// credentialEnding is the end of the names of variables that hold credentials, by which code picks them from all.
var credentialEnding = lazyregexp.New(`^(?:_?(?:TOKENS?|(?:API|SECRET|ACCESS|PRIVATE)?_?KEYS?|SECRETS?|PASSWORDS?|PASSWD|CREDENTIALS?)|_(?:token|key|secret|password|credential)s?)$`)

// anyCredential stands for variables that code picks by the ends of their names.
const anyCredential = "*_TOKEN"

// CredentialWords are the words by which a declaration speaks of the service whose credential a variable holds.
func CredentialWords(variable string) []string {
	if variable == anyCredential {
		return []string{"environment", "env", "credential", "credentials", "secret", "secrets", "token", "tokens", "variables"}
	}
	return envCredentials[variable]
}

// readsCredentials tells of the well-known credentials of the environment that a file reads.
func (e *fileEffects) readsCredentials() {
	v := &variableReader{leftOut: map[[2]int]bool{}, read: map[string]lang.Pos{}}
	lang.Walk(e.file, v.visit)
	v.bundle = slices.ContainsFunc(v.texts, func(c lang.Const) bool { return c.Start.Offset() >= bundleSize })
	if v.picks || len(v.all) > 0 {
		for _, c := range v.texts {
			switch {
			case envCredentials[c.Text] != nil:
				v.reads(c.Text, c.Start)
			case credentialEnding.MatchString(c.Text) && v.goesThrough(c.Start):
				v.reads(anyCredential, c.Start)
			}
		}
	}
	for _, name := range v.order {
		what := "the variable " + name
		if name == anyCredential {
			what = "variables whose names end like those of credentials"
		}
		if f := e.a.addAt(EnvCredential, finding.Info, e.file.Path, e.at, v.read[name], "reads "+what+" of the environment", name); f != nil && !e.asksItsHost(name) && !e.connects(name) {
			f.Object = name
		}
	}
}

// A file with texts beyond so many bytes is a bundle of many modules; a word in it belongs to the code that goes through
// the variables only if it stands so near.
const (
	bundleSize = 256 << 10
	bundleNear = 4 << 10
)

// goesThrough reports whether a word belongs to code that goes through all variables.
func (v *variableReader) goesThrough(word lang.Pos) bool {
	return slices.ContainsFunc(v.all, func(at lang.Pos) bool {
		away := word.Offset() - at.Offset()
		return !v.bundle || max(away, -away) <= bundleNear
	})
}

// variableReader collects the variables that a file reads.
type variableReader struct {
	// picks says that a name is worked out, and all where the names of all variables are gone through.
	picks bool
	all   []lang.Pos
	// bundle says that texts stand beyond bundleSize.
	bundle bool
	texts  []lang.Const
	// leftOut are places that are written or taken away.
	leftOut map[[2]int]bool
	read    map[string]lang.Pos
	order   []string
}

func (v *variableReader) reads(name string, at lang.Pos) {
	if _, again := v.read[name]; !again && (envCredentials[name] != nil || name == anyCredential) {
		v.read[name] = at
		v.order = append(v.order, name)
	}
}

func (v *variableReader) visit(n lang.Node, _ *lang.Scope) bool {
	switch n := n.(type) {
	case lang.Assign:
		v.leaveOut(n.Targets)
		for _, t := range n.Targets {
			if c, ok := t.(lang.Collection); ok && lang.IsEnviron(n.Value) {
				v.taken(c)
			}
		}
	case lang.Operation:
		if n.Op == "delete" {
			v.leaveOut(n.Operands)
		}
	case lang.Jump:
		if n.Op == "del" {
			v.leaveOut(n.Operands)
		}
	case lang.Attr:
		if lang.IsEnviron(n.X) && !v.leftOut[spanKey(n.Span)] {
			v.reads(n.Name, n.Start)
		}
	case lang.Index:
		if lang.IsEnviron(n.X) && !v.leftOut[spanKey(n.Span)] && len(n.Keys) == 1 {
			v.key(n.Keys[0])
		}
	case lang.Call:
		v.call(n)
	case lang.Const:
		if n.Kind == lang.String && len(n.Text) < 64 {
			v.texts = append(v.texts, n)
		}
	}
	return true
}

func (v *variableReader) leaveOut(list []lang.Expr) {
	for _, x := range list {
		v.leftOut[spanKey(x.Place())] = true
	}
}

// taken are the variables that a pattern takes from the environment: const { GITHUB_TOKEN } = process.env.
func (v *variableReader) taken(c lang.Collection) {
	for _, it := range c.Items {
		switch k := it.Key.(type) {
		case lang.Const:
			v.reads(k.Text, k.Start)
		case lang.Name:
			v.reads(k.ID, k.Start)
		}
		if n, ok := it.Value.(lang.Name); ok && it.Key == nil {
			v.reads(n.ID, n.Start)
		}
	}
}

func (v *variableReader) key(x lang.Expr) {
	if c, ok := x.(lang.Const); ok {
		v.reads(c.Text, c.Start)
		return
	}
	v.picks = true
}

func (v *variableReader) call(n lang.Call) {
	name, of := "", lang.Expr(nil)
	switch f := n.Func.(type) {
	case lang.Attr:
		name, of = f.Name, f.X
	case lang.Name:
		name = f.ID
	}
	switch {
	case (name == "getenv" || name == "Getenv" || name == "LookupEnv" || name == "get" && lang.IsEnviron(of)) && len(n.Args) > 0:
		v.key(n.Args[0].Value)
	case (name == "items" || name == "keys" || name == "values") && lang.IsEnviron(of):
		v.all = append(v.all, n.Start)
	case slices.Contains([]string{"entries", "keys", "values"}, name) && len(n.Args) == 1 && lang.IsEnviron(n.Args[0].Value):
		v.all = append(v.all, n.Start)
	}
}

func spanKey(s lang.Span) [2]int { return [2]int{s.Start.Offset(), s.End.Offset()} }

// connects reports whether the file loads a client of what a variable of a connection names.
func (e *fileEffects) connects(variable string) bool {
	isClient := func(m string) bool { return slices.Contains(connectionClients[variable], m) }
	return slices.ContainsFunc(e.facts.Imports, func(i lang.Import) bool { return isClient(i.Module) }) ||
		slices.ContainsFunc(e.facts.Calls, func(c lang.CallSite) bool {
			if !slices.Contains(c.Names, "require") || len(c.Call.Args) != 1 {
				return false
			}
			module, ok := c.Call.Args[0].Value.(lang.Const)
			return ok && isClient(module.Text)
		})
}

// asksItsHost reports whether the file's calls name a host of the service whose credential a variable holds.
func (e *fileEffects) asksItsHost(variable string) bool {
	return slices.ContainsFunc(CredentialWords(variable), func(w string) bool {
		return slices.ContainsFunc(e.hosts, func(h string) bool { return strings.Contains(strings.ToLower(h), w) })
	})
}
