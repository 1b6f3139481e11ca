package literals

import (
	"reflect"
	"testing"
)

func TestPatterns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, file, source string
		want               []Pattern
	}{
		{"compared as a whole in Python", "server.py", "BUCKET = re.compile(r\"[a-z0-9][a-z0-9._-]{1,20}\")\nif not BUCKET.fullmatch(bucket): fail()\n", []Pattern{{"BUCKET", "[a-z0-9][a-z0-9._-]{1,20}"}}},
		{"searched for in Python", "server.py", "WORD = re.compile(r'[a-z]+')\nWORD.findall(text)\n", nil},
		{"at its place in Python", "server.py", "if not re.fullmatch(r'[A-Z]{3}', args['x'] or code.strip()): fail()\nif re.match(r\"\\d+$\", row.count): pass\n", []Pattern{{"args", "[A-Z]{3}"}, {"count", `\d+`}}},
		{"what a method gives", "server.py", "re.fullmatch('[a-f]+', colour.lower())", []Pattern{{"colour", "[a-f]+"}}},
		{"a constant in JavaScript", "index.js", "const HANDLE = /^@[a-z]{2,}\\/[0-9]$/i;", []Pattern{{"HANDLE", "@[a-z]{2,}/[0-9]"}}},
		{"at its place in JavaScript", "index.js", "if (!/^\\d{4}-\\d{2}$/.test(args.month)) throw 1; x.split(/,/); zone.match(/^[A-Z]+$/);", []Pattern{{"month", `\d{4}-\d{2}`}, {"zone", "[A-Z]+"}}},
		{"in Go", "main.go", "var callsign = regexp.MustCompile(`^[A-Z]{1,2}\\d$`)", []Pattern{{"callsign", `[A-Z]{1,2}\d`}}},
		{"what Go does not know", "index.js", "const ODD = /^(?!x)[a-z]+$/", nil},
		{"nothing", "index.js", "const NOTHING = /^$/", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			if got := Read(source(map[string]string{c.file: c.source})).Patterns; !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}
