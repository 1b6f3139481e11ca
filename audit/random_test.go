package audit

import (
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/analyze/finding"
)

func TestWeakRandom(t *testing.T) {
	t.Parallel()
	py := func(tool, body string) map[string]string {
		return map[string]string{"server.py": "import random, secrets, time, math\nfrom mcp.server.fastmcp import FastMCP\nmcp = FastMCP('x')\ndef source():\n    return random.Random(time.time_ns())\n" +
			"def jitter():\n    time.sleep(random.random())\n@mcp.tool()\ndef " + tool + "(n: int = 8) -> str:\n" + body}
	}
	for name, c := range map[string]struct {
		files map[string]string
		want  finding.Severity
	}{
		"drawn in the handler":        {py("generate_password", "    return ''.join(random.choices('abc', k=n))\n"), finding.High},
		"drawn in a helper":           {py("make_pin", "    return str(source().randint(0, 9))\n"), finding.High},
		"a secure source too":         {py("new_api_key", "    a = [secrets.choice('abc') for _ in range(n)]\n    random.shuffle(a)\n    return ''.join(a)\n"), finding.Low},
		"a secure source alone":       {py("generate_password", "    return secrets.token_urlsafe(n)\n"), ""},
		"the system's generator":      {py("generate_password", "    return random.SystemRandom().choice('abc')\n"), ""},
		"no secret":                   {py("roll_dice", "    return str(random.randint(1, 6))\n"), ""},
		"a secret that is checked":    {py("check_password", "    return str(random.randint(1, 6))\n"), ""},
		"chance in waiting":           {py("create_access_token", "    jitter()\n    return 'x'\n"), ""},
		"JavaScript":                  {map[string]string{"server.mjs": "import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';\nconst s = new McpServer({name:'x',version:'1'});\ns.tool('generate_token', {}, async () => ({content:[{type:'text',text: Math.random().toString(36)}]}));\n"}, finding.High},
		"JavaScript, a secure source": {map[string]string{"server.mjs": "import { randomBytes } from 'node:crypto';\nimport { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';\nconst s = new McpServer({name:'x',version:'1'});\ns.tool('generate_token', {}, async () => ({content:[{type:'text',text: randomBytes(8).toString('hex')}]}));\n"}, ""},
	} {
		got := finding.Severity("")
		r, err := Dir(t.Context(), write(t, c.files))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			if f.Rule == WeakRandom {
				got = f.Severity
				if !strings.Contains(f.Message, "draws its value from") {
					t.Errorf("%s: %s", name, f.Message)
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}
