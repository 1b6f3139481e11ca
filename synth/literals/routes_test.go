package literals

import (
	"reflect"
	"testing"
	"testing/fstest"
)

func TestRoutes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, source string
		want         []Route
	}{
		{"a.js", "app.get('/users/:id', f); router.post(\"/run\", g);\napp.all('/any', h); app.delete(`/x`, h)", []Route{{Method: "GET", Path: "/users/1", Open: "/users/{id}"}, {Method: "POST", Path: "/run"}, {Method: "GET", Path: "/any"}, {Method: "DELETE", Path: "/x"}}},
		{"a.ts", "if (req.url === '/state' && req.method === 'POST') {}\nif (url.pathname.startsWith('/api/')) {}", []Route{{Method: "POST", Path: "/state"}, {Method: "GET", Path: "/state"}, {Method: "GET", Path: "/api/"}, {Method: "POST", Path: "/api/"}}},
		{"a.go", "mux.HandleFunc(\"POST /jobs/{id}\", f)\nhttp.HandleFunc(\"/debug\", g)\nr.GET(\"/v1/*path\", h)\nif r.URL.Path == \"/raw\" {", []Route{{Method: "GET", Path: "/v1/1", Open: "/v1/{path}"}, {Method: "POST", Path: "/jobs/1", Open: "/jobs/{id}"}, {Method: "GET", Path: "/debug"}, {Method: "GET", Path: "/raw"}, {Method: "POST", Path: "/raw"}}},
		{"a.py", "@app.get('/a/{b}')\n@app.route(\"/c/<int:d>\", methods=['POST', 'PUT'])\nRoute('/e', endpoint=f, methods=['DELETE'])\nif self.path == '/g':\nrouter.add_post('/h', i)",
			[]Route{{Method: "GET", Path: "/a/1", Open: "/a/{b}"}, {Method: "POST", Path: "/c/1", Open: "/c/{d}"}, {Method: "PUT", Path: "/c/1", Open: "/c/{d}"}, {Method: "DELETE", Path: "/e"}, {Method: "POST", Path: "/h"}, {Method: "GET", Path: "/g"}, {Method: "POST", Path: "/g"}}},
		{"c.js", "app.get('/find/:q', (req, res) => { run(req.query.term, req.query['kind']) });\napp.post('/run', async (req, res) => { const { cmd, dir: d = '.' } = req.body })\napp.get('/none', f)",
			[]Route{{Method: "GET", Path: "/find/1", Open: "/find/{q}", Params: []string{"term", "kind"}}, {Method: "POST", Path: "/run", Params: []string{"cmd", "dir"}}, {Method: "GET", Path: "/none"}}},
		{"c.py", "@app.route('/find')\ndef find():\n  return request.args.get('term') + request.json['kind']", []Route{{Method: "GET", Path: "/find", Params: []string{"term", "kind"}}}},
		{"c.go", "http.HandleFunc(\"/find\", func(w http.ResponseWriter, r *http.Request) { run(r.URL.Query().Get(\"term\"), r.FormValue(\"kind\")) })", []Route{{Method: "GET", Path: "/find", Params: []string{"term", "kind"}}}},
		{"b.js", "app.post('/shutdown', f); app.get('/a b', f); app.get('relative', f); app.get('/api/stop', f); map.get('key')", nil},
	} {
		if got := Routes(fstest.MapFS{c.file: {Data: []byte(c.source)}}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v, want %v", c.file, got, c.want)
		}
	}
}

func FuzzRoutes(f *testing.F) {
	f.Add("app.get('/users/:id')\n@app.route('/c', methods=['POST'])\nHandleFunc(\"GET /{x}\")")
	f.Fuzz(func(t *testing.T, source string) {
		for _, name := range []string{"a.js", "a.py", "a.go"} {
			for _, r := range Routes(fstest.MapFS{name: {Data: []byte(source)}}) {
				if r.Path == "" || r.Path[0] != '/' || len(r.Path) > maxRoute || r.Method == "" {
					t.Fatalf("%+v", r)
				}
				if len(r.Params) > maxParams {
					t.Fatalf("%d parameters", len(r.Params))
				}
				for _, c := range r.Path + r.Method + r.Open {
					if c <= ' ' || c > '~' {
						t.Fatalf("%q cannot stand in a request", r)
					}
				}
			}
		}
	})
}
