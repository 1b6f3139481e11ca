package audit

import (
	"cmp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// Well-known credentials of the environment are told by their names, wherever they are read, and not where they are
// set, taken away or asked for at the service's own host.
func TestEnvCredentials(t *testing.T) {
	t.Parallel()
	module := strings.Repeat("log('a module of a bundle');\n", bundleSize/25)
	for _, c := range []struct{ file, src, want string }{
		{"a.py", "import os\nx = os.environ.get('GITHUB_TOKEN', '')\n", "GITHUB_TOKEN"},
		{"a.py", "import os\nx = os.environ['OPENAI_API_KEY']\ny = os.getenv('OWN_TOKEN')\n", "OPENAI_API_KEY"},
		{"a.py", "from os import environ, getenv\nx = getenv('NPM_TOKEN') or environ['DATABASE_URL']\n", "NPM_TOKEN DATABASE_URL"},
		{"a.py", "import os\nx = [v for k, v in os.environ.items() if k.endswith(('_TOKEN', '_KEY'))]\n", "*_TOKEN"},
		{"a.py", "import os\nos.environ['GITHUB_TOKEN'] = 'x'\ndel os.environ['NPM_TOKEN']\nos.environ.pop('SLACK_TOKEN', None)\n", ""},
		{"a.py", "import os\nfound = {k: os.environ.get('OWN_' + k.upper(), '') for k in ('site', 'key')}\n", ""},
		{"a.mjs", "const found = Object.entries(process.env).filter(([k]) => k.endsWith('_token'));\n", "*_TOKEN"},
		{"a.py", "import os\nenv = dict(os.environ)\nHELP = 'set GITHUB_TOKEN first'\n", ""},
		{"a.mjs", "const origin = [process.env.DATABASE_URL, process.env.NODE_ENV];\n", "DATABASE_URL"},
		{"a.cjs", "const r = require('ioredis');\nconst c = new r(process.env.REDIS_URL, process.env.DATABASE_URL);\n", "used DATABASE_URL"},
		{"a.py", "import os\nimport psycopg2\nc = psycopg2.connect(os.environ['DATABASE_URL'])\n", "used"},
		{"a.mjs", "import { createClient } from 'redis';\nconst c = createClient({ url: process.env.REDIS_URL, token: process.env.GITHUB_TOKEN });\n", "used GITHUB_TOKEN"},
		{"a.mjs", "import redis from './redis.mjs';\nsend(process.env.REDIS_URL);\n", "REDIS_URL"},
		{"a.mjs", "const { GITHUB_TOKEN, HOME } = process.env;\n", "GITHUB_TOKEN"},
		{"a.mjs", "const grains = ['OPENAI_API_KEY', 'SIZE'].map((n) => process.env[n]);\n", "OPENAI_API_KEY"},
		{"a.mjs", "delete process.env.GITHUB_TOKEN;\nprocess.env.NPM_TOKEN = '';\nspawn('x', { env: { ...process.env } });\n", ""},
		{"a.mjs", "const all = Object.entries(process.env);\n" + module + "const state = { '_key': 1 };\n", ""},
		{"a.mjs", module + "const all = Object.entries(process.env).filter(([k]) => k.endsWith('_KEY'));\n", "*_TOKEN"},
	} {
		r, err := Tree(t.Context(), fstest.MapFS{c.file: {Data: []byte(c.src)}}, ".", Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, f := range r.Findings {
			if f.Rule == EnvCredential {
				got = append(got, cmp.Or(f.Object, "used"))
			}
		}
		if want := strings.Fields(c.want); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", c.src, got, want)
		}
	}
}
