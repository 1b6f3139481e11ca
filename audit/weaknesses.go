package audit

import (
	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit/taint"
)

// The rules for what a tool's caller supplies.
const (
	TaintCommand   = "taint-command"
	TaintArgument  = "taint-argument"
	TaintPath      = "taint-path"
	TaintRequest   = "taint-request"
	TaintCode      = "taint-code"
	TaintObject    = "taint-object"
	TaintSQL       = "taint-sql"
	TaintNoSQL     = "taint-nosql"
	TaintPrototype = "taint-prototype"
	ToolCapability = "tool-capability"
)

// byWeakness are the rules by the weakness of a flow.
var byWeakness = map[string]string{
	"CWE-78": TaintCommand, "CWE-88": TaintArgument, "CWE-22": TaintPath, "CWE-918": TaintRequest,
	"CWE-94": TaintCode, "CWE-502": TaintObject, "CWE-89": TaintSQL,
	"CWE-943": TaintNoSQL, "CWE-1321": TaintPrototype,
}

// obliging are programs with an option that runs a program, or writes, reads or sends a file:
// https://gtfobins.github.io and https://sonarsource.github.io/argument-injection-vectors.
var obliging = words("7z ack ansible apt apt-get aria2c awk aws bash black blender bun bundle busybox cargo cc chrome chromium clang cmake composer convert cp cpio crontab csh curl dash dd deno dig docker dotnet dpkg ed emacs env exiftool expect fd ffmpeg ffprobe find firefox flock fzf g++ gawk gcc gcloud gdb gem gh ghostscript git go google-chrome gradle grep gs helm hg identify imagemagick install ionice java javac jq julia just kubectl ld less ln lua magick mail make man mawk mongo mongodump mount mv mvn mysql mysqldump nano nc ncat nice nmap node nohup npm npx openssl pandoc perl pg_dump php pip pip3 pipx pnpm podman poetry psql pwsh pytest python python3 R rake rg ripgrep rpm rsync ruby runuser sbt scp screen sed sendmail setpriv sftp sh shuf sort sqlite3 ssh stdbuf strace su sudo svn systemctl tar taskset tcpdump tee terraform time timeout tmux uv uvx vagrant vi vim watch wget wkhtmltopdf xargs xdotool yarn yq yt-dlp youtube-dl zip unzip zsh")

// judged is the rule of a flow and its severity. A path or an address that is all of a
// parameter, whose name does not say so, is less than one in a longer text: nothing shows
// that the server meant to keep to a place. So is one that leads to names alone, or to the content of
// files of one extension.
func judged(fl *taint.Flow) (string, finding.Severity) {
	rule := byWeakness[fl.CWE]
	switch {
	case fl.Capability:
		return ToolCapability, finding.Info
	case rule == TaintArgument && fl.Program != "" && !obliging[fl.Program]:
		return rule, finding.Low
	case rule == TaintPath && (fl.Does == taint.Lists || fl.Does == taint.Reads && fl.Ending != ""):
		return rule, finding.Medium
	case rule == TaintRequest || rule == TaintArgument, rule == TaintPath && !fl.Part && !fl.Checked:
		return rule, finding.Medium
	}
	return rule, finding.High
}

// weaknesses are the rules for what a tool's caller supplies. The steps from the handler
// to the sink are the finding's evidence.
func weaknesses() []finding.Rule {
	const twin = "\n\n**False positive when** a check that the audit does not know holds, or the tool is meant to do it. A check of your own is known where it " +
		"compares with a list or a pattern, or throws; else suppress the finding in your policy, by its fingerprint."
	return []finding.Rule{
		{ID: TaintArgument, Name: "ArgumentInjection", Title: "Argument injection: a parameter may become a program option", Severity: finding.Medium, CWE: []string{"CWE-88"}, OWASP: []string{"MCP05"},
			Advice: finding.Advice{Why: "Options of some programs run commands or write files.", Fix: "Put -- before the parameter, or reject values that begin with a dash."},
			Help:   "A parameter stands alone among the arguments of a program, and one that begins with a dash is an option: of git, tar, curl, find and others some run programs or write files. Put `--` before it, or refuse a dash at its beginning. Low is a program that is not known for such options." + twin},
		{ID: TaintCode, Name: "CodeInjection", Title: "Code injection: a parameter reaches an evaluator", Severity: finding.High, CWE: []string{"CWE-94"}, OWASP: []string{"MCP05"},
			Advice: finding.Advice{Why: "Whoever controls the parameter runs code in the server's process.", Fix: "Parse the value, or choose it from a list."},
			Help:   "A parameter reaches `eval`, `Function`, a template's source, a script of `sed` or `awk`, or another function that runs text. `str.format` of the caller's text with an object of the program is one, too: `{card.__init__.__globals__}` leads to all that the program knows. Empty builtins do not hold. Parse it (`ast.literal_eval`, a parser of expressions), or choose from a list." + twin},
		{ID: TaintCommand, Name: "CommandInjection", Title: "Command injection: a parameter reaches a shell", Severity: finding.High, CWE: []string{"CWE-78"}, OWASP: []string{"MCP05"},
			Advice: finding.Advice{Why: "Whoever controls the parameter runs commands on the user's machine.", Fix: "Pass a list of arguments without a shell."},
			Help:   "A parameter is a part of a text that a shell runs, so that `;` or `$( )` in it runs other programs. Give the program and its arguments as a list without a shell; `shlex.quote` holds for one word outside of quotes." + twin},
		{ID: TaintNoSQL, Name: "NoSQLInjection", Title: "NoSQL injection: a parameter is an object or code in a query", Severity: finding.High, CWE: []string{"CWE-943"}, OWASP: []string{"MCP05"},
			Advice: finding.Advice{Why: "Whoever controls the parameter changes which documents the query reads or writes.", Fix: "Hold the parameter to be a text, and compare it by `$eq`."},
			Help:   "A parameter that nothing holds to be a text is a part of a query of documents, and an object in its place brings operators (`$ne`, `$gt`, `$regex`); or a parameter is in the text of `$where`, which the database runs. Declare the parameter as a text (`z.string()`, `str`), convert it (`String(x)`), or compare it by `$eq`; leave `$where` out." + twin},
		{ID: TaintObject, Name: "UnsafeDeserialization", Title: "Unsafe deserialization of a parameter", Severity: finding.High, CWE: []string{"CWE-502"}, OWASP: []string{"MCP05"},
			Advice: finding.Advice{Why: "A crafted document runs code when it is loaded.", Fix: "Use JSON or a safe loader."},
			Help:   "A parameter, or a file that it names, reaches `pickle`, an unsafe loader of YAML or the like, which run code that the data names. So does a file with a fixed name in `/tmp`, which another user of the machine may have made. Use JSON, `yaml.safe_load` or another format of data alone." + twin},
		{ID: TaintPath, Name: "PathTraversal", Title: "Path traversal: a parameter chooses the file", Severity: finding.High, CWE: []string{"CWE-22"}, OWASP: []string{"MCP05"},
			Advice: finding.Advice{Why: "Whoever controls the parameter chooses files outside the directory.", Fix: "Resolve the path and compare it with the directory and its separator."},
			Help:   "A parameter is joined to a directory of the server's, and `..` or an absolute path in it leads elsewhere; or the path is compared with a prefix that does not end in a separator. Resolve the path (`realpath`) and compare it with the directory and its separator, or use `is_relative_to`, `filepath.IsLocal`, `os.Root`. Medium is a file whose whole name is a parameter that does not say so, one that is only read and has a fixed extension whatever the parameter is, and a directory whose names alone are read." + twin},
		{ID: TaintPrototype, Name: "PrototypePollution", Title: "Prototype pollution: a parameter chooses a property of a property", Severity: finding.High, CWE: []string{"CWE-1321"}, OWASP: []string{"MCP05"},
			Advice: finding.Advice{Why: "Whoever controls the parameter changes all objects of the server, and with them what its other tools do.", Fix: "Refuse `__proto__`, `constructor` and `prototype` as keys, or use a Map."},
			Help:   "A parameter is the key of an object, and a property is set in what it leads to, by another key of the caller's: `__proto__` leads to the prototype of all objects of JavaScript, as `__class__` and `__globals__` do in Python. Refuse these keys (`__proto__`, `constructor`, `prototype`; names that begin with `__`), use a `Map` or `Object.create(null)`, or look with `Object.hasOwn` first." + twin},
		{ID: TaintRequest, Name: "ServerSideRequestForgery", Title: "Server-side request forgery: a parameter chooses the host", Severity: finding.Medium, CWE: []string{"CWE-918"}, OWASP: []string{"MCP05"},
			Advice: finding.Advice{Why: "Whoever controls the parameter reaches internal services.", Fix: "Allow only listed hosts."},
			Help:   "A parameter is a part of the host of a URL, or all of a URL whose name does not say so: the server asks hosts within its network for the caller, perhaps with its own key. Compare the host with a list." + twin},
		{ID: TaintSQL, Name: "SQLInjection", Title: "SQL injection: a parameter is part of a statement", Severity: finding.High, CWE: []string{"CWE-89"}, OWASP: []string{"MCP05"},
			Advice: finding.Advice{Why: "Whoever controls the parameter changes the statement.", Fix: "Use placeholders for values, and a list for names."},
			Help:   "A parameter is a part of the text of a statement. Give it as a value beside the statement (`?`, `$1`); choose names of tables and columns from a list." + twin},
		{ID: ToolCapability, Name: "ToolCapability", Title: "Tool capability chosen by the caller", Severity: finding.Info, Capability: true,
			Help: "A parameter is the whole path, address, command, code or statement that its name says, such as the `url` of a tool that fetches. It is what the tool is for, and says what a model can do through it. It costs no points."},
	}
}
