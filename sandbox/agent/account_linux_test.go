package agent

import "testing"

func TestListed(t *testing.T) {
	const line, group = "dana:x:1000:1000:dana,,,:/home/dana:/bin/bash", "dana:x:1000:"
	for _, c := range []struct{ name, old, line, want string }{
		{"appended", "root:x:0:0:root:/root:/bin/bash\n", line, "root:x:0:0:root:/root:/bin/bash\n" + line + "\n"},
		{"instead of another", "node:x:1000:1000::/home/node:/bin/sh\nbin:x:2:2::/bin:/bin/sh", line, "bin:x:2:2::/bin:/bin/sh\n" + line + "\n"},
		{"instead of a namesake", "dana:x:7:7::/x:/bin/sh\n", line, line + "\n"},
		{"garbage", "\x00\n:::\nx\n\n", group, ":::\n" + group + "\n"},
	} {
		if got := listed(c.old, "dana", "1000", c.line); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
