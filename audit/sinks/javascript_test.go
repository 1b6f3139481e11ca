package sinks

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/audit/lang/golang"
	"github.com/coalmine-dev/coalmine/audit/lang/javascript"
)

// TestFunctionsOfJavaScript follows default exports without a name, re-exports, CommonJS
// and names of other spelling from file to file.
func TestFunctionsOfJavaScript(t *testing.T) {
	parse := func(path, src string) *lang.File { return javascript.Language{}.Parse(path, []byte(src)) }
	files := []*lang.File{
		parse("index.ts", `import run from "./run.js"; import { save as keep, all } from "./lib"; import * as more from "./lib/more"; const db = require("./db");
import { Server } from "@modelcontextprotocol/sdk/server/index.js";
server.registerTool("a", {}, async (args) => run(args));
server.setRequestHandler(CallToolRequestSchema, (request) => keep(request));
function x() { all(1); more.third(2); db(3); db.close(); }`),
		parse("run.ts", `import { exec } from "node:child_process"; export default async (line) => { exec(line); };`),
		parse("lib/index.ts", `export { store as save } from "./store"; export * from "./more";`),
		parse("lib/store.ts", `import fs from "fs"; const write = (x) => fs.writeFileSync("x", x); export { write as store };`),
		parse("lib/more.ts", `export function all(x) { fetch(x); } export const third = (x) => eval(x);`),
		parse("db.js", `module.exports = function query(x) { return x; }; module.exports.close = () => {};`),
	}
	want := []string{
		"index.ts: [] -> db.js: lib/index.ts: lib/more.ts: run.ts:",
		"index.ts:x [] -> db.js:close db.js:query lib/more.ts:all lib/more.ts:third",
		"index.ts:<tool a> [] -> run.ts:<default>",
		"index.ts:<tool> [] -> lib/store.ts:write",
		"run.ts: [] -> ",
		"run.ts:<default> [process child_process.exec:1] -> ",
		"lib/index.ts: [] -> lib/more.ts: lib/store.ts:",
		"lib/store.ts: [] -> ",
		"lib/store.ts:write [write fs.writeFileSync:1] -> ",
		"lib/more.ts: [] -> ",
		"lib/more.ts:all [network fetch:1] -> ",
		"lib/more.ts:third [evaluate eval:1] -> ",
		"db.js: [] -> ",
		"db.js:query [] -> ",
		"db.js:close [] -> ",
	}
	var got []string
	for _, f := range Functions(files) {
		got = append(got, describe(f))
	}
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A table of functions leads to them in JavaScript, too.
func TestThroughTablesOfJavaScript(t *testing.T) {
	list := Functions([]*lang.File{javascript.Language{}.Parse("a.js", []byte(`function post(x) { fetch(x); }
const read = (x) => x;
const STEPS = { post, r: read };
function run(k, x) { return STEPS[k](x); }
function none(k) { return OTHER[k]; }`))})
	for name, want := range map[string]string{"run": "a.js:post a.js:read", "none": ""} {
		i := slices.IndexFunc(list, func(f Function) bool { return f.Name == name })
		if got := strings.Join(list[max(i, 0)].Calls, " "); i < 0 || got != want {
			t.Errorf("%s calls %q, want %q", name, got, want)
		}
	}
}

// TestHandlersOfGo finds what the official SDK and mcp-go register.
func TestHandlersOfGo(t *testing.T) {
	parse := func(path, src string) *lang.File { return golang.Language{}.Parse(path, []byte(src)) }
	files := []*lang.File{
		parse("cmd/main.go", `package main
func main() {
	mcp.AddTool(server, &mcp.Tool{Name: "read"}, a.read)
	s.AddTool(mcp.NewTool("look"), look)
	s.AddTools(server.ServerTool{Tool: mcp.NewTool("third"), Handler: func(x any) {}})
}
func (a *app) read(x any) {}
var a = &app{}`),
		parse("cmd/look.go", "package main\nfunc look(x any) { util.Do(x) }"),
	}
	var got []string
	for _, h := range NewPackage(files).Handlers() {
		got = append(got, fmt.Sprintf("%s %s %s", h.Kind, h.Name, strings.Join(h.Functions, " ")))
	}
	want := []string{"tool read cmd/main.go:app.read", "tool look cmd/look.go:look", "tool third cmd/main.go:<tool third>"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
