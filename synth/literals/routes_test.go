package literals

import (
	"slices"
	"testing"
	"testing/fstest"
)

func TestRoutes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		file, source string
		want         []Route
	}{
		{"a.js", "app.get('/users/:id', f); router.post(\"/run\", g);\napp.all('/any', h); app.delete(`/x`, h)", []Route{{"GET", "/users/1"}, {"POST", "/run"}, {"GET", "/any"}, {"DELETE", "/x"}}},
		{"a.ts", "if (req.url === '/state' && req.method === 'POST') {}\nif (url.pathname.startsWith('/api/')) {}", []Route{{"POST", "/state"}, {"GET", "/state"}, {"GET", "/api/"}, {"POST", "/api/"}}},
		{"a.go", "mux.HandleFunc(\"POST /jobs/{id}\", f)\nhttp.HandleFunc(\"/debug\", g)\nr.GET(\"/v1/*path\", h)\nif r.URL.Path == \"/raw\" {", []Route{{"GET", "/v1/1"}, {"POST", "/jobs/1"}, {"GET", "/debug"}, {"GET", "/raw"}, {"POST", "/raw"}}},
		{"a.py", "@app.get('/a/{b}')\n@app.route(\"/c/<int:d>\", methods=['POST', 'PUT'])\nRoute('/e', endpoint=f, methods=['DELETE'])\nif self.path == '/g':\nrouter.add_post('/h', i)",
			[]Route{{"GET", "/a/1"}, {"POST", "/c/1"}, {"PUT", "/c/1"}, {"DELETE", "/e"}, {"POST", "/h"}, {"GET", "/g"}, {"POST", "/g"}}},
		{"b.js", "app.post('/shutdown', f); app.get('/a b', f); app.get('relative', f); app.get('/api/stop', f); map.get('key')", nil},
	} {
		if got := Routes(fstest.MapFS{c.file: {Data: []byte(c.source)}}); !slices.Equal(got, c.want) {
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
				for _, c := range r.Path + r.Method {
					if c <= ' ' || c > '~' {
						t.Fatalf("%q cannot stand in a request", r)
					}
				}
			}
		}
	})
}
