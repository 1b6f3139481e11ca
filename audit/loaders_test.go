package audit

import "testing"

// bound are ways to a module of Node's that name no require of their own.
var bound = []struct{ name, src string }{
	{"bound", `import { createRequire } from 'module'; const require = createRequire(import.meta.url); const fs = require('fs'), c = require('child_process');`},
	{"another name", `import { createRequire as make } from 'node:module'; const load = make(import.meta.url); const fs = load('node:fs'), c = load('node:child_process');`},
	{"the default", `import module from 'node:module'; const r = module.createRequire(import.meta.url); const fs = r('fs'), c = r('child_process');`},
	{"the namespace", `import * as m from 'module'; const r = m.default.createRequire(import.meta.url); const fs = r('fs'), c = r('child_process');`},
	{"the class", `import { Module } from 'module'; const r = Module.createRequire('/'); const fs = r('fs'), c = Module._load('child_process');`},
	{"directly", `import { createRequire } from 'module'; const fs = createRequire('/')('fs'), c = createRequire('/')('child_' + 'process');`},
	{"imported later", `const { createRequire } = await import('module'); const r = createRequire('/'); const fs = r('fs'), c = r('child_process');`},
	{"the main module", `const fs = process.mainModule.require('fs'), c = process.mainModule.constructor._load('child_process');`},
	{"require.main", `const fs = require.main.require('fs'), c = require.main['require']('child_process');`},
	{"the module", `const fs = module.require('fs'), c = module.constructor._load('child_process');`},
	{"built in", `import process from 'node:process'; const { getBuiltinModule: get } = globalThis.process; const fs = process.getBuiltinModule('fs'), c = get('child_process');`},
	{"call", `const load = require; const fs = load.call(null, 'fs'), c = require('module').prototype.require.call(module, 'child_process');`},
	{"bind", `const load = module.require.bind(module); const fs = load('fs'), c = load('child_process');`},
	{"through a function", `import { createRequire } from 'module'; const r = createRequire('/'); const load = (name) => r(name); const load2 = function (n) { return require(n); }; const fs = load('fs'), c = load2('child_process');`},
	{"a bundler's helper", `var __require = /* @__PURE__ */ ((x) => typeof require !== "undefined" ? require : typeof Proxy !== "undefined" ? new Proxy(require, { get: (a, b) => (typeof require !== "undefined" ? require : a)[b] }) : x)(function(x) { if (typeof require !== "undefined") return require.apply(this, arguments); throw Error(x); }); var fs = __require("fs"), c = __require("child_process");`},
}

// A module that a bound or inherited require returns is known for its effects and its flows.
func TestModulesOfOtherLoaders(t *testing.T) {
	const rest = `
require(); c.execSync('ls'); fs.rmSync('x');
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
const s = new McpServer({});
s.tool('t', { path: z.string() }, async ({ path }) => c.execSync('ls ' + path));`
	for _, l := range bound {
		r, err := Dir(t.Context(), write(t, map[string]string{"a.mjs": l.src + rest}))
		if err != nil {
			t.Fatal(err)
		}
		const want = "cmd-exec a.mjs:2 info; fs-delete a.mjs:2 low; taint-command a.mjs:5 high"
		if got := findings(t, r, CommandExec, FileDelete, "taint-command"); got != want {
			t.Errorf("%s: %s\nwant %s", l.name, got, want)
		}
	}
}

// A function of that name which loads nothing makes no module of its argument.
func TestLoadersOfNothing(t *testing.T) {
	for _, src := range []string{
		"import { load } from './load.js';\nload('child_process').execSync('ls');\n",
		"import { requireUser } from 'auth';\nrequireUser('child_process').execSync('ls');\n",
		"const module = { load: (x) => ({}) };\nmodule.load('child_process').exec('ls');\n",
		"const load = (name) => read(name);\nload('child_process').execSync('ls');\n",
		"const load = (name) => require(other);\nload('child_process').execSync('ls');\n",
		"import process from 'process';\nprocess.emitWarning('child_process').exec('ls');\n",
	} {
		r, err := Dir(t.Context(), write(t, map[string]string{"a.mjs": src}))
		if err != nil {
			t.Fatal(err)
		}
		if got := findings(t, r, CommandExec); got != "" {
			t.Errorf("%s: %s", src, got)
		}
	}
}
