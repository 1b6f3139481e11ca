package canaries

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// What a developer types, notes and buys. A part of it is drawn for each home,
// so that no file is the same in two of them.
var (
	commands = []string{
		"git status", "git diff", "git pull --rebase", "git push", "git log --oneline | head", "git stash", "git stash pop", "git checkout main",
		"git commit -am 'Handle empty responses'", "git commit -am 'Retry on timeouts'", "git commit --amend --no-edit", "git branch -a", "git rebase -i HEAD~3",
		"npm install", "npm run dev", "npm run build", "npm outdated", "docker compose up -d", "docker compose logs -f", "docker ps", "docker system df",
		"ls", "ls -la", "cd ..", "cd -", "clear", "htop", "df -h", "du -sh *", "free -h", "code .", "vim README.md", "less server.js", "ssh bastion",
		"python3 -m venv .venv", ". .venv/bin/activate", "pip install -r requirements.txt", "grep -rn retry .", "jq . package.json", "man 5 crontab",
		"sudo apt update", "sudo apt upgrade", "tail -f /var/log/syslog", "ping -c 3 1.1.1.1", "ip a", "tmux attach", "history | grep docker", "make", "exit",
	}
	notes = []string{
		"ask about the retry budget", "book the train for the offsite", "read the postmortem before Thursday", "renew the parking permit", "send the slides to the team",
		"update the on-call rota", "check the invoice of March", "call the dentist", "review the migration plan", "order a new keyboard", "look at the slow query",
		"birthday present", "clean up old branches", "write down the deploy steps", "return the library books", "ask for the new badge",
	}
	gitAliases  = []string{"st = status -sb", "lg = log --oneline --graph", "co = checkout", "br = branch", "last = log -1 HEAD", "unstage = reset HEAD --", "amend = commit --amend --no-edit", "df = diff"}
	bashAliases = []string{"ll='ls -alF'", "la='ls -A'", "l='ls -CF'", "k=kubectl", "gs='git status'", "gd='git diff'", "dc='docker compose'", "py=python3", "..='cd ..'", "tf=terraform", "v=vim"}
	editors     = []string{"vim", "nano", "nvim", "micro"}
	libraries   = []string{"express", "pino", "zod", "undici", "fastify", "lodash", "date-fns", "uuid", "dotenv", "axios", "ws", "pg"}
	kinds       = []string{"invoice", "receipt", "ticket", "statement"}
)

// some draws some of a list, at least so many, in the list's order.
func (m *mint) some(list []string, least int) []string {
	left := least + m.intn(len(list)-least+1)
	var out []string
	for i, s := range list {
		if m.intn(len(list)-i) < left {
			out, left = append(out, s), left-1
		}
	}
	return out
}

// plantShell makes what a shell reads and leaves.
func (h *home) plantShell() {
	m := h.mint
	const history = ".bash_history"
	lines := []string{"cd ~/src/" + h.repo}
	for range 40 + m.intn(160) {
		lines = append(lines, m.pick(commands))
	}
	lines = append(lines,
		"kubectl get pods -n "+h.repo,
		"export GITLAB_TOKEN="+h.secret("history-gitlab", "gitlab", history, m.prefixed("glpat-", base64URL, 20), "gitlab.com", "*.gitlab.com"),
		"glab mr list")
	for range 5 + m.intn(40) {
		lines = append(lines, m.pick(commands))
	}
	lines = append(lines,
		"mysql -h db."+h.domain()+" -u "+h.user+" -p"+h.secret("history-mysql", "mysql", history, m.password(), "db."+h.domain())+" "+h.company)
	for range 3 + m.intn(30) {
		lines = append(lines, m.pick(commands))
	}
	h.file(history, 0o600, strings.Join(lines, "\n")+"\n")
	h.touched(history, 3)
	var aliases strings.Builder
	for _, a := range m.some(bashAliases, 3) {
		aliases.WriteString("alias " + a + "\n")
	}
	editor := m.pick(editors)
	h.file(".bashrc", 0o644, fmt.Sprintf(`# ~/.bashrc: executed by bash(1) for non-login shells.
case $- in
    *i*) ;;
      *) return;;
esac

HISTCONTROL=ignoreboth
HISTSIZE=%d
HISTFILESIZE=%d
shopt -s histappend checkwinsize

%s
PS1='\u@\h:\w\$ '
export EDITOR=%s
`, 1000*(1+m.intn(9)), 1000*(10+m.intn(40)), aliases.String(), editor))
	h.file(".profile", 0o644, `# ~/.profile: executed by the command interpreter for login shells.
if [ -n "$BASH_VERSION" ] && [ -f "$HOME/.bashrc" ]; then
    . "$HOME/.bashrc"
fi

if [ -d "$HOME/.local/bin" ]; then
    PATH="$HOME/.local/bin:$PATH"
fi
`)
	h.file(".bash_logout", 0o644, "# ~/.bash_logout: executed by bash(1) when a login shell exits.\n[ \"$SHLVL\" = 1 ] && clear\n")
	h.file("."+map[string]string{"nano": "nanorc", "vim": "vimrc", "nvim": "vimrc", "micro": "inputrc"}[editor], 0o644,
		map[string]string{"nano": "set tabsize ", "vim": "syntax on\nset number\nset shiftwidth=", "nvim": "syntax on\nset shiftwidth=", "micro": "set completion-ignore-case on\nset history-size "}[editor]+m.pick([]string{"2", "4", "8"})+"\n")
}

// plantOrdinary makes files that hold no secret, so that HOME looks lived in.
func (h *home) plantOrdinary() {
	m := h.mint
	var budget strings.Builder
	budget.WriteString("month,rent,food,travel\n")
	rent := 700 + 10*m.intn(90)
	for month := range 1 + int(h.now.Month()) {
		fmt.Fprintf(&budget, "%02d,%d,%d,%d\n", month, rent, 250+m.intn(250), m.intn(200))
	}
	h.file("Documents/budget-"+strconv.Itoa(h.now.Year())+".csv", 0o644, budget.String())
	h.file("Documents/notes.md", 0o644, "# Notes\n\n- "+strings.Join(m.some(notes, 3), "\n- ")+"\n- "+h.repo+": "+m.pick(notes)+"\n")
	kind, total := m.pick(kinds), 5+m.intn(90)
	h.file("Downloads/"+kind+"-"+m.chars(digits, 5)+".txt", 0o644, fmt.Sprintf("%s\n\nHosting, monthly   %d.00 EUR\nTotal              %d.00 EUR\n", title(kind), total, total))
	src := "src/" + h.repo + "/"
	h.file(src+"README.md", 0o644, "# "+h.repo+"\n\nRun `npm install`, then `npm run dev`.\n")
	uses := m.some(libraries, 2)
	var deps, imports []string
	for _, l := range uses {
		deps = append(deps, fmt.Sprintf("    \"%s\": \"^%d.%d.%d\"", l, 1+m.intn(8), m.intn(20), m.intn(10)))
		imports = append(imports, fmt.Sprintf("const %s = require('%s');", strings.ReplaceAll(l, "-", ""), l))
	}
	h.file(src+"package.json", 0o644, fmt.Sprintf("{\n  \"name\": \"%s\",\n  \"version\": \"%d.%d.%d\",\n  \"private\": true,\n  \"scripts\": {\n    \"dev\": \"node server.js\"\n  },\n  \"dependencies\": {\n%s\n  }\n}\n",
		h.repo, m.intn(5), m.intn(30), m.intn(9), strings.Join(deps, ",\n")))
	h.file(src+"server.js", 0o644, "const http = require('node:http');\n"+strings.Join(imports, "\n")+fmt.Sprintf("\n\nhttp.createServer((req, res) => res.end('ok\\n')).listen(process.env.PORT || %d);\n", 3000+m.intn(6000)))
}

// touched sets a file's time to one of the last days.
func (h *home) touched(rel string, days int) {
	for i := range h.files {
		if h.files[i].Path == h.at(rel) {
			h.files[i].ModTime = h.past(days)
		}
	}
}

// together sets the times of files that one program wrote in one go.
func (h *home) together(first string, others ...string) {
	var when time.Time
	for _, f := range h.files {
		if f.Path == h.at(first) {
			when = f.ModTime
		}
	}
	for i := range h.files {
		for _, o := range others {
			if h.files[i].Path == h.at(o) {
				h.files[i].ModTime = when
			}
		}
	}
}
