package oracle

import (
	"net/url"
	"path"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// up leads from any directory of ordinary depth to the top.
const up = 12

func climb(step string) string { return strings.Repeat(step, up) }

func below(f File, suffix string) string { return strings.TrimPrefix(f.Stem, "/") + suffix }

func paths() []variant {
	var out []variant
	add := func(context string, text func(w *World) (string, File)) {
		out = append(out, variant{oracle: session.OraclePath, context: context, after: false, make: func(w *World, _ string) (string, File) { return text(w) }})
	}
	const suffix = ".txt"
	add("absolute", func(w *World) (string, File) { return w.Outside.Stem + suffix, w.Outside })
	add("dot-dot", func(w *World) (string, File) { return climb("../") + below(w.Outside, suffix), w.Outside })
	add("sibling of the same prefix", func(w *World) (string, File) { return w.Beside.Stem + suffix, w.Beside })
	add("link", func(w *World) (string, File) { return w.Link + suffix, w.Linked })
	add("dot-dot below the root", func(w *World) (string, File) {
		return w.Root + "/" + climb("../") + below(w.Outside, suffix), w.Outside
	})
	add("dot-dot, suffix added", func(w *World) (string, File) { return climb("../") + below(w.Outside, ""), w.Outside })
	add("percent-encoded", func(w *World) (string, File) {
		return climb("%2e%2e%2f") + strings.ReplaceAll(below(w.Outside, suffix), "/", "%2f"), w.Outside
	})
	add("backslashes", func(w *World) (string, File) {
		return climb(`..\`) + strings.ReplaceAll(below(w.Outside, suffix), "/", `\`), w.Outside
	})
	add("dots that a filter leaves", func(w *World) (string, File) { return climb("....//") + below(w.Outside, suffix), w.Outside })
	add("NUL", func(w *World) (string, File) { return climb("../") + below(w.Outside, suffix) + "\x00.png", w.Outside })
	add("relative sibling", func(w *World) (string, File) {
		return "../" + path.Base(path.Dir(w.Beside.Stem)) + "/" + path.Base(w.Beside.Stem) + suffix, w.Beside
	})
	add("relative link", func(w *World) (string, File) {
		return strings.TrimPrefix(w.Link, w.Root+"/") + suffix, w.Linked
	})
	add("linked directory", func(w *World) (string, File) {
		return w.LinkDir + "/" + path.Base(w.InLinked.Stem) + suffix, w.InLinked
	})
	add("encoded twice", func(w *World) (string, File) {
		return climb("%252e%252e%252f") + strings.ReplaceAll(below(w.Outside, suffix), "/", "%252f"), w.Outside
	})
	add("absolute, suffix added", func(w *World) (string, File) { return w.Outside.Stem, w.Outside })
	add("link, suffix added", func(w *World) (string, File) {
		return path.Base(w.LinkDir) + "/" + path.Base(w.InLinked.Stem), w.InLinked
	})
	add("file address", func(w *World) (string, File) {
		return (&url.URL{Scheme: "file", Path: w.Outside.Stem + suffix}).String(), w.Outside
	})
	return append(out, creations()...)
}

// creations name a file that is not there yet.
func creations() []variant {
	var out []variant
	add := func(context string, text func(w *World, token string) string) {
		out = append(out, variant{oracle: session.OraclePath, context: context, after: false, make: func(w *World, token string) (string, File) { return text(w, token), File{} }})
	}
	outside := func(w *World) string { return path.Dir(w.Outside.Stem) }
	add("new file, dot-dot", func(w *World, t string) string {
		return climb("../") + strings.TrimPrefix(outside(w), "/") + "/" + t + ".txt"
	})
	add("new file, absolute", func(w *World, t string) string { return outside(w) + "/" + t + ".txt" })
	add("new file, sibling", func(w *World, t string) string { return path.Dir(w.Beside.Stem) + "/" + t + ".txt" })
	add("new file, linked directory", func(w *World, t string) string { return w.LinkDir + "/" + t + ".txt" })
	add("new file, backslashes", func(w *World, t string) string {
		return climb(`..\`) + strings.ReplaceAll(strings.TrimPrefix(outside(w), "/")+"/"+t+".txt", "/", `\`)
	})
	return out
}
