package dockerfile

import (
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	src := "# syntax=docker/dockerfile:1\nFROM --platform=linux/amd64 node:22 AS build\nRUN a && \\\n  # why\n\n  b \\\n  c\nrun <<EOF\nx\ny\nEOF\nCMD [\"a\", \"b\"]\nENV A=1 \\\n B=2\nnot-one\nUSER me\\"
	list := Parse(src)
	var got []string
	for _, in := range list {
		got = append(got, in.Name+" "+strings.Join(strings.Fields(in.Text), " "))
		if in.Text != "" && !strings.HasPrefix(src[in.TextAt:], in.Text[:1]) {
			t.Errorf("%s begins with %q at %d", in.Name, in.Text[:1], in.TextAt)
		}
		if !strings.EqualFold(src[in.Offset:in.Offset+len(in.Name)], in.Name) {
			t.Errorf("%s stands at %d", in.Name, in.Offset)
		}
	}
	want := `FROM node:22 AS build|RUN a && b c|RUN <<EOF|CMD ["a", "b"]|ENV A=1 B=2|USER me`
	if strings.Join(got, "|") != want {
		t.Fatalf("%s\nwant %s", strings.Join(got, "|"), want)
	}
	if list[0].Flags[0] != "--platform=linux/amd64" || len(list[3].Exec) != 2 || list[2].Here[0].Text != "x\ny\n" || src[list[2].Here[0].Offset] != 'x' {
		t.Errorf("%+v", list)
	}
}

func TestEscape(t *testing.T) {
	list := Parse("# escape=`\nRUN a `\n b\nRUN c\\\n")
	if len(list) != 2 || strings.Join(strings.Fields(list[0].Text), " ") != "a b" || list[1].Text != `c\` {
		t.Errorf("%+v", list)
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"FROM a\nRUN b \\\n # c\n d", "# escape=`\nRUN <<A <<B\nA\nB\n", "ENV", "ADD --checksum=x http://y /z", "RUN [\"a\"", "\\\n\\\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, src string) {
		for _, in := range Parse(src) {
			if in.Offset < 0 || in.TextAt < in.Offset || in.TextAt+len(in.Text) > len(src) {
				t.Fatalf("%+v of %d bytes", in, len(src))
			}
			for _, h := range in.Here {
				if src[h.Offset:h.Offset+len(h.Text)] != h.Text {
					t.Fatalf("%+v", h)
				}
			}
		}
	})
}
