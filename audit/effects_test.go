package audit

import "testing"

func TestEffects(t *testing.T) {
	rules := []string{ExecDynamic, ShellInjection, RuntimeInstall, FileDelete, FileWrite, NetEgress, CommandExec}
	for _, c := range []struct{ name, src, want string }{
		{"a.py", "import os\nos.system('ls')\n", "cmd-exec a.py:2 info"},
		{"a.py", "import os\nos.system(f'ls {x}')\n", "cmd-exec a.py:2 info; shell-injection a.py:2 medium"},
		{"a.py", "import subprocess as s\ns.run('ls ' + x, shell=True)\ns.run(['ls', x])\ns.run('ls %s' % x)\n", "cmd-exec a.py:2 info; shell-injection a.py:2 medium"},
		{"a.py", "import asyncio\nasync def f(x):\n    await asyncio.create_subprocess_shell('ls {}'.format(x))\n", "cmd-exec a.py:3 info; shell-injection a.py:3 medium"},
		{"a.py", "import subprocess, sys\nsubprocess.check_call([sys.executable, '-m', 'pip', 'install', 'x'])\n", "cmd-exec a.py:2 info; runtime-install a.py:2 high"},
		{"a.py", "import base64\nexec(base64.b64decode(x))\neval('1')\neval(y)\n", "exec-dynamic a.py:2 high; exec-dynamic a.py:4 low"},
		{"a.py", "import base64, zlib\ndef f(x):\n    code = zlib.decompress(base64.b64decode(x))\n    exec(code)\n", "exec-dynamic a.py:4 high"},
		{"a.py", "import urllib.request\nexec(urllib.request.urlopen('http://a.example').read())\n", "exec-dynamic a.py:2 high; net-egress a.py:2 low"},
		{"a.py", "from pathlib import Path\nPath('x').write_text('y')\nPath('x').unlink()\n", "fs-delete a.py:3 low; fs-write a.py:2 info"},
		{"a.py", "import asyncio, os\nfrom http.server import HTTPServer\nclass S(HTTPServer): pass\nasyncio.to_thread(os.remove, 'x')\n", "fs-delete a.py:4 low; net-egress a.py:3 low"},
		{"a.py", "import http\nx = http.HTTPStatus.OK\nx = http.HTTPStatus(200)\n", ""},
		{"a.js", "import http from 'node:http';\nhttp.get('http://a.example');\n", "net-egress a.js:2 low"},
		{"a.js", "await fetch('https://a.example');\n", "net-egress a.js:1 low"},
		{"a.js", "import { execSync, spawn } from 'child_process';\nexecSync(`ls ${x}`);\nspawn('npm', ['install', x]);\nexecSync('ls');\n", "cmd-exec a.js:2 info; runtime-install a.js:3 high; shell-injection a.js:2 medium"},
		{"a.js", "new Function('a', atob(x))();\nnew Function('return this')();\n", "exec-dynamic a.js:1 high"},
		{"a.js", "[].constructor.constructor(atob(x))();\n[].constructor.constructor('return this')();\nx['constructor']['constructor'](y);\n", "exec-dynamic a.js:1 high; exec-dynamic a.js:3 low"},
		{"a.py", "import importlib\ndef load(n):\n    return importlib.import_module(n)\nload('os').remove('x')\n", "fs-delete a.py:4 low"},
		{"a.py", "import marshal\nexec(marshal.loads(x))\n", "exec-dynamic a.py:2 high"},
		{"a.js", "import fs from 'fs';\nfs.rmSync(x);\nfs.writeFileSync(x, y);\n", "fs-delete a.js:2 low; fs-write a.js:3 info"},
		{"a.mjs", "import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';\nimport { execSync } from 'child_process';\nconst s = new McpServer({});\ns.tool('t', {}, async () => ({ content: [] }));\nfor (const p of pids()) execSync(`ps ${p}`);\n", "cmd-exec a.mjs:5 info; shell-injection a.mjs:5 low"},
		{"a.go", "package a\nimport (\"os\"; \"os/exec\"; \"net/http\")\nfunc f() {\n\tos.Remove(\"x\")\n\texec.Command(\"ls\")\n\thttp.Get(\"x\")\n}\n", "cmd-exec a.go:5 info; fs-delete a.go:4 low; net-egress a.go:6 low"},
		{"a.ipynb", "{\"cells\": [\n{\"cell_type\": \"code\", \"source\": [\n\"x = 1\\n\",\n\"!pip install x\"]}]}", "cmd-exec a.ipynb:4 info; runtime-install a.ipynb:4 high"},
	} {
		r, err := Dir(t.Context(), write(t, map[string]string{c.name: c.src}))
		if err != nil {
			t.Fatal(err)
		}
		if got := findings(t, r, rules...); got != c.want {
			t.Errorf("%s\n%s\nwant %s", c.src, got, c.want)
		}
	}
}
