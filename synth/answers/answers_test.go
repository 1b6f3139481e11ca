package answers

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/coalmine-dev/coalmine/sandbox/sinkhole"
)

func TestRead(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		what, file, source string
		words              string // one of the first answer's
		want               string // the first answer
	}{
		{"a member of a decoded answer", "a.js", "const res = await fetch(`https://api.example.com/v1/teams/${id}`);\nconst data = await res.json();\nreturn data.team.name;",
			"api.example.com/v1/teams/", `{"team":{"name":"Autumn"}}`},
		{"a list's elements", "a.ts", "const data: Found = await (await fetch(base + '/search')).json();\nreturn data.results.map((r) => r.title + r.url).join();",
			"/search", `{"results":[{"title":"Autumn","url":"https://www.example.com/items/1"},{"title":"Autumn","url":"https://www.example.com/items/1"}]}`},
		{"members taken apart", "a.js", "const { total, items = [] } = await res.json();\nfor (const { id, price } of items) { out.push(id, price); }",
			"", `{"items":[{"id":"10240512","price":12},{"id":"10240512","price":12}],"total":12}`},
		{"what wraps the decoded answer", "a.js", "const response = await axios.get(`/v2/users/${id}`);\nreturn response.data.user.email;",
			"/v2/users/", `{"user":{"email":"alex.morgan@example.com"}}`},
		{"members by get, with a default", "a.py", "data = response.json()\nfor f in data.get('features', []):\n    print(f['properties'].get('temperature', 0), f[\"properties\"]['event'])\n",
			"", `{"features":[{"properties":{"event":"The second quarter looks steady.","temperature":12}},{"properties":{"event":"The second quarter looks steady.","temperature":12}}]}`},
		{"a function that decodes", "a.py", "async def fetch_json(url):\n    r = await client.get(url)\n    return r.json()\n\nasync def alerts(state):\n    found = await fetch_json(f'https://api.weather.example/alerts/{state}')\n    return found['count']\n",
			"api.weather.example/alerts/", `{"count":12}`},
		{"a value that the code wants", "a.js", "const d = await r.json();\nif (d.error) throw d.error;\nif (d.status !== 'OK') throw 1;\nif (d.code === 200) use(d.place.name);",
			"", `{"code":200,"place":{"name":"Autumn"},"status":"OK"}`},
		{"a part with a name of its own", "a.js", "const d = await r.json();\nconst page = d.query.pages;\nreturn page[0].extract;",
			"", `{"query":{"pages":[{"extract":"The second quarter looks steady."},{"extract":"The second quarter looks steady."}]}}`},
		{"a list where there is one", "a.js", "async function ask(route) {\n  return JSON.parse(await text(HOST + route));\n}\nasync function run() {\n  const found = await ask('/v1/boxes');\n  return (Array.isArray(found) ? found : []).map((b) => b.title).join();\n}\n",
			"/v1/boxes", `[{"title":"Autumn"},{"title":"Autumn"}]`},
		{"a function with the name of a method", "a.py", "def get(route):\n    cache[route] = json.loads(read(HOST + route))\n    return cache[route]\n\ndef last(place):\n    found = get('/v2/places/' + place)\n    return settings.get('x') + found['place']['price']\n",
			"/v2/places/", `{"place":{"price":12}}`},
		{"a comprehension", "a.py", "def ask(url):\n    return json.loads(urlopen(url).read())\n\ndef days(city):\n    data = ask('https://forecast.example/v3/' + city)\n    return ', '.join(d['day'] + str(d['price']) for d in data['days'])\n",
			"forecast.example/v3/", `{"days":[{"day":"The second quarter looks steady.","price":12},{"day":"The second quarter looks steady.","price":12}]}`},
		{"a member that is taken at once", "a.js", "async function ask(t) {\n  return JSON.parse((await get(`https://api.example.com/v1/pages`)).responseText).context.sections;\n}\n", "", `{"context":{"sections":[]}}`},
		{"a member of an awaited answer", "a.js", "return (await (await fetch(u)).json()).results.map((r) => r.title);", "", `{"results":[{"title":"Autumn"},{"title":"Autumn"}]}`},
		{"a member that gets a name", "a.py", "rows = requests.get(url, params=p).json()['rows']\nfor r in rows:\n    show(r['price'])\n", "", `{"rows":[{"price":12},{"price":12}]}`},
		{"a loop over a member", "a.py", "for r in response.json().get('rows', []):\n    show(r['price'])\n", "", `{"rows":[{"price":12},{"price":12}]}`},
		{"a promise of an answer", "a.js", "return fetch(u).then((r) => r.json()).then((data) => data.team.name);", "", `{"team":{"name":"Autumn"}}`},
		{"a member of a client's answer", "a.js", "const found = (await axios.get(u, { params })).data.rows;\nreturn found.map((r) => r.price);", "", `{"rows":[{"price":12},{"price":12}]}`},
		{"a member of what a function asks for", "a.js", "const rows = (await ask(`/v1/rows/${id}`)).rows;\nreturn rows.map((r) => r.price);", "", `{"rows":[{"price":12},{"price":12}]}`},
		{"a member behind arguments of several lines", "a.js", "return (await (await fetch(u, {\n  method: 'POST'\n})).json()).rows.map((r) => r.price);", "", `{"rows":[{"price":12},{"price":12}]}`},
		{"lists with one index", "a.py", "d = response.json()\nat = closest(d['hours']['time'][best_index])\nshow(d['hours']['amount'][i], d['days'][key])\n", "", `{"days":[],"hours":{"amount":[12,12],"time":["2026-01-12T08:00:00Z","2026-01-12T08:00:00Z"]}}`},
		{"what another thread asks for", "a.py", "def pick(name):\n    r = get(f\"{API}/v1/packages\", params={'name': name}, headers={'User-Agent': f'shop/{VERSION}'})\n    return None, r.json()\n\ndef other():\n    return get(f\"{API}/v2/other\")\n\nasync def info(name):\n    err, found = await asyncio.to_thread(pick, name)\n    if not isinstance(found, list):\n        return 'none'\n    first: dict[str, Any] = found[0]\n    return first['price']\n",
			"/v1/packages", `[{"price":12},{"price":12}]`},
		{"an error behind the answer", "a.py", "def ask(route):\n    r = client_get(HOST + route)\n    return r.json(), None\n\ndef run():\n    found, err = ask('/v1/boxes')\n    return found['price']\n", "/v1/boxes", `{"price":12}`},
		{"entries of an object", "a.py", "d = response.json()\nfor name, info in d.get('systems', {}).items():\n    show(name, info['price'])\n", "", `{"systems":{"main":{"price":12}}}`},
		{"entries of an object in JavaScript", "a.js", "const d = await r.json();\nfor (const [name, info] of Object.entries(d.systems)) { show(name, info.price); }", "", `{"systems":{"main":{"price":12}}}`},
		{"a list at the top", "a.js", "const rows = JSON.parse(text);\nrows.forEach(row => log(row.name));", "", `[{"name":"Autumn"},{"name":"Autumn"}]`},
		{"a page of many", "a.js", "const d = await r.json();\nuse(d.next_cursor, d.has_more, d.items);", "", `{"has_more":true,"items":[],"next_cursor":"cGFnZT0y"}`},
		{"what is evaluated", "a.js", "const j = await res.json();\nconst f = new Function('a', j.formula);\nreturn f(j.amount);", "", `{"amount":12,"formula":"{planted code}"}`},
		{"what is evaluated by another name", "a.py", "d = response.json()\nfor r in d['rules']:\n    w = r['test']\n    eval(w, {})\n", "", `{"rules":[{"test":"{planted code}"},{"test":"{planted code}"}]}`},
		{"members named as code where something is evaluated", "a.py", "d = response.json()\nrun(d['snippet'], d['title'])\n\ndef run(s, t):\n    exec(s)\n", "", `{"snippet":"{planted code}","title":"Autumn"}`},
		{"the same where nothing is", "a.py", "d = response.json()\nshow(d['snippet'], re.compile(d['title']))\n", "", `{"snippet":"The second quarter looks steady.","title":"Autumn"}`},
		{"a list whose elements are evaluated elsewhere", "a.py", "d = json.load(urllib.request.urlopen(u, timeout=5))\nSTEPS[:] = d.get('steps') or []\nfor s in STEPS:\n    exec(s['code'])\n", "", `{"steps":[{"code":"{planted code}"},{"code":"{planted code}"}]}`},
		{"a line for a shell", "a.js", "const d = await r.json();\nexecSync(d.after);\nnew RegExp('a').exec(d.title);", "", `{"after":"{planted line}","title":"Autumn"}`},
	} {
		got := Read(fstest.MapFS{c.file: {Data: []byte(c.source)}})
		if len(got) == 0 {
			t.Errorf("%s: no answer", c.what)
			continue
		}
		// Of several places the one that says most is looked at.
		best := got[0]
		for _, f := range got[:max(1, len(got)-1)] {
			if len(f.Body) > len(best.Body) {
				best = f
			}
		}
		var a, b any
		if json.Unmarshal([]byte(best.Body), &a) != nil || json.Unmarshal([]byte(c.want), &b) != nil || !reflect.DeepEqual(a, b) {
			t.Errorf("%s: %s, want %s", c.what, best.Body, c.want)
		}
		if !strings.Contains(" "+strings.Join(best.Words, " ")+" ", c.words) {
			t.Errorf("%s: words %q, want %s", c.what, best.Words, c.words)
		}
	}
}

// The path that stands nearest to the code tells one answer of an API from another.
func TestTemplateOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`found = get("/organizations/%s/workspaces/%s" % (a, b))`:           "organizations/{}/workspaces/{}",
		"const d = await ask(`/apps/${app.name}/machines?x=${y}`);":         "apps/{}/machines",
		"data = ask(f'https://api.example.com/v1/{kind}/items', timeout=9)": "v1/{}/items",
		"const d = await ask(`${base}/users/${id}`, 'application/json');":   "users/{}",
		`x = get("/status")`: "", `x = get("%s/%s" % (a, b))`: "", `x = y`: "",
	} {
		if got := templateOf(text); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A path of one segment is known where it is handed to what asks.
func TestPathsOfOneSegment(t *testing.T) {
	t.Parallel()
	const ask = "async function api(path) {\n  const r = await fetch(`${base}/api/${path}`);\n  return await r.json();\n}\n"
	for call, want := range map[string]string{
		"const rows = await api('states');\nrows.map((r) => r.name);": "states", "const found = await api(`/search?q=${q}`);\nuse(found.total);": "search",
		"const found = await api(path);\nuse(found.total);": "", "const found = await api(`${kind}`, 'other');\nuse(found.total);": "",
	} {
		got := Read(fstest.MapFS{"a.js": {Data: []byte(ask + "async function run() {\n" + call + "\n}\n")}})
		if !slices.ContainsFunc(got, func(f sinkhole.Fit) bool { return f.Template == want && f.Body != "" }) {
			t.Errorf("%s: %+v, want the template %q", call, got, want)
		}
	}
}

func TestNothingIsReadOfWhatDecodesNothing(t *testing.T) {
	t.Parallel()
	for _, source := range []string{"", "const data = compute();\nreturn data.x;", "import json\n", "# x = r.json()"} {
		if got := Read(fstest.MapFS{"a.py": {Data: []byte(source)}}); len(got) > 0 {
			t.Errorf("%q: %v", source, got)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add("const { a, b: { c } } = await r.json();\na.map(({x}) => x).b[0]?.['c']")
	f.Add("const { a, b:} = await r.json();\nuse(a);")
	f.Add("return (await (await fetch(u, {\n a: 1\n})).json()).b.c;\nx.then((r) => r.json()).then((d) => d.e)")
	f.Add("d = json.loads(x)\nfor a in d.get('b', {}).items():\n  a[0]['c']\n")
	f.Fuzz(func(t *testing.T, source string) {
		for _, name := range []string{"a.js", "a.py"} {
			for _, fit := range Read(fstest.MapFS{name: {Data: []byte(source)}}) {
				if fit.Body != sinkhole.PlantedCode && !json.Valid([]byte(fit.Body)) {
					t.Fatalf("no JSON: %q", fit.Body)
				}
			}
		}
	})
}

func TestWhatIsRunWhole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, source string
		want         bool
	}{
		{"a.js", "const r = await fetch('https://a.example/v1/hook');\nconst body = await r.text();\nvm.runInNewContext(body, {});", true},
		{"a.js", "const m = await import('data:text/javascript,' + encodeURIComponent(await (await fetch('https://a.example/v1/hook')).text()));", true},
		{"a.py", "code = urlopen('https://a.example/v1/hook').read()\nexec(code)", true},
		{"a.js", "const r = await fetch('https://a.example/v1/hook');\nconst body = await r.text();\nreturn /a/.exec(body);", false},
		{"a.py", "text = urlopen('https://a.example/v1/hook').read()\nre.compile(text)", false},
		{"a.js", "const r = await fetch('https://a.example/v1/hook'), t = await r.text(); eval('(' + t + ')')", true},
		{"a.js", "const r = await fetch('https://a.example/v1/hook'), t = await r.text(); eval(token)", false},
		{"a.js", "const r = await fetch('https://a.example/v1/hook'), t = await r.text(); eval(options.t)", false},
		{"a.js", "const r = await fetch('https://a.example/v1/hook');\nconst t = element.textContent;\neval(t)", false},
		{"a.js", "const r = await fetch('https://a.example/v1/hook');\nconst t = await r.text();\n" + strings.Repeat("log(t);\n", 900) + "eval(t)", false},
	} {
		got := false
		for _, f := range Read(fstest.MapFS{c.file: {Data: []byte(c.source)}}) {
			got = got || f.Body == sinkhole.PlantedCode && strings.Contains(strings.Join(f.Words, " "), "a.example/v1/hook")
		}
		if got != c.want {
			t.Errorf("%s: %v", c.source, got)
		}
	}
}

// A text that is run by several names is one program, whatever decodes it.
func TestProgramsAreNamedOnce(t *testing.T) {
	t.Parallel()
	source := "const r = await fetch('https://a.example/v1/hook'); eval(await r.text()); eval(await r.text()); new Function(r.text)()"
	want := [][]string{{"a.example/v1/hook"}}
	if got := programsOf(source, false); !reflect.DeepEqual(got, want) {
		t.Errorf("%q", got)
	}
}

// The names of code are those that come first, over all files.
func TestCodeNamesStopWhenFull(t *testing.T) {
	t.Parallel()
	source := strings.Repeat("a.code; b['script']; c.get('formula'); d.title;", 9) + "e.expr; f.python; g.handler; h.hook; i.rule; j.plugin"
	want := []string{"code", "script", "formula", "expr", "python", "handler", "hook", "rule"}
	if got := codeNames(source, nil); !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if got := codeNames("a.lambda; b.when", want[:7:7]); !slices.Equal(got, append(want[:7:7], "lambda")) {
		t.Errorf("%q", got)
	}
}

// minified is a file of one line, as bundlers write it.
func minified(part string) string { return strings.Repeat(part, maxFile/len(part)) }

func BenchmarkMinified(b *testing.B) {
	for name, source := range map[string]string{
		"texts":     minified("t=await(await e(n,{h:t})).text(),i(t.content,r[t],t?o:t(e)),"),
		"evaluated": minified("t=await(await e(n)).text(),eval(e),Function(n),"),
		"members":   minified("a.code,b.script,c.expr,d.python,e.handler,f.hook,g.rule,h.plugin,i.title,j.length,"),
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				programsOf(source, false)
				codeNames(source, nil)
			}
		})
	}
}
