package config

import (
	"fmt"
	"strings"
	"testing"
)

func TestLaunchOf(t *testing.T) {
	for _, tc := range []struct{ command, want string }{
		{"npx -y @s/pkg@1.2 --flag /data", "npm @s/pkg@1.2 with[] bin= args[--flag /data]"},
		{"npx --package=a -p b@2 run x", "npm a with[b@2] bin=run args[x]"},
		{"npm exec -- pkg --x", "npm pkg with[] bin= args[--x]"},
		{"npx --registry https://h/ pkg", "npm pkg with[] bin= args[] refused=--registry"},
		{"npx --cache /c pkg", "npm pkg with[] bin= args[]"},
		{"uvx pkg@1.0 --tz UTC", "pypi pkg@1.0 with[] bin= args[--tz UTC]"},
		{"uvx --with a,b -p 3.12 --from pkg==1.0 tool x", "pypi pkg==1.0 with[a b] bin=tool args[x]"},
		{"uvx --index-url https://h/ pkg", "pypi pkg with[] bin= args[] refused=--index-url"},
		{"pipx run --spec pkg tool -- y", "pypi pkg with[] bin=tool args[-- y]"},
		{"docker run -i --rm -e KEY --env=A=b -v /h:/data:ro --mount type=bind,src=/a,dst=/b img:1 x --y", "oci img:1 with[] bin= args[x --y] env[KEY A=b] places[/data /b]"},
		{"docker run -ieKEY --entrypoint sh img", "oci img with[] bin= args[] env[KEY] places[] entry=sh"},
		{"docker run --env-file f img", "oci img with[] bin= args[] refused=--env-file"},
		{"docker run", "none"}, {"node x.js", "none"}, {"npx -c x", "none"}, {"", "none"},
	} {
		l, ok := LaunchOf(strings.Fields(tc.command))
		got := "none"
		if ok {
			got = fmt.Sprintf("%s %s with%v bin=%s args%v", l.Kind, l.Package, l.With, l.Bin, l.Args)
			if len(l.Env)+len(l.Places) > 0 {
				got += fmt.Sprintf(" env%v places%v", l.Env, l.Places)
			}
			if l.Entrypoint != "" {
				got += " entry=" + l.Entrypoint
			}
			if l.Refused != "" {
				got += " refused=" + l.Refused
			}
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s", tc.command, got, tc.want)
		}
	}
}

// Whatever Recognize is sure of, LaunchOf reads, and of the same package.
func FuzzLaunchOf(f *testing.F) {
	for _, c := range []string{"npx -y a@1 b", "uvx --from a b", "docker run -e A -v x:/y img", "pipx run --spec x y"} {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, command string) {
		words := strings.Fields(command)
		kind, name := Recognize(words)
		l, ok := LaunchOf(words)
		if ok != (kind != KindCommand) || ok && (l.Kind != kind || l.Package != name) {
			t.Errorf("%q: %s %q, launched as %+v", words, kind, name, l)
		}
	})
}
