package audit

import (
	"path"
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit/lang"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// SecretUpload is the rule for a command that hands a file of secrets to a program which sends it.
const SecretUpload = "secret-upload"

var (
	// senders are programs that send what they are given. Those that are given files to send take them behind an option.
	senders = words("curl wget http https xh nc ncat netcat socat telnet ftp sendmail mail mutt ssh openssl")
	// dumpers print all variables of the environment.
	dumpers = words("env printenv set export declare")
	// placeOfSecrets is a file that holds secrets; what is public of a key is taken out before.
	placeOfSecrets = lazyregexp.New(`(?:^|[\s"'=@/~}])(?:\.ssh/(?:id_\w+|\*)|\.aws/credentials|\.netrc|\.npmrc|\.pypirc|\.git-credentials|\.kube/config|\.docker/config\.json|\.config/gcloud/|\.config/gh/hosts|id_(?:rsa|ed25519|ecdsa)|etc/shadow|\.env)(?:$|[\s"'*;)])`)
	publicKey      = lazyregexp.New(`\bid_\w+\.pub\b`)
	// sentFile begins an argument of curl whose value is a file to be sent, and sentOption stands before one.
	sentFile   = lazyregexp.New(`^(?:@|[\w-]*=@|--(?:upload-file|post-file|body-file|data[\w-]*|form)=@?)`)
	sentOption = words("-T --upload-file --post-file --body-file")
)

// uploads judges one node of a script: a pipe into a sender, or a sender that is given a file.
func (s *script) uploads(n lang.Node) {
	switch n := n.(type) {
	case lang.Operation:
		if n.Op != "|" || len(n.Operands) != 2 {
			return
		}
		to, ok := n.Operands[1].(lang.Call)
		if c := commandOf(to); ok && senders[c.program] && handsOver(n.Operands[0]) {
			s.add(SecretUpload, finding.High, n.Span, "a file of secrets, or the environment, is piped into "+shown(c.program), "pipe "+c.program)
		}
	case lang.Call:
		c := commandOf(n)
		if !downloaders[c.program] {
			return
		}
		for i, x := range c.args {
			text := allText(x)
			isFile := sentFile.MatchString(text) || i > 0 && sentOption[constant(c.args[i-1])] || strings.Contains(text, "=@")
			if holdsPlace(text) && (isFile || substitutes(x)) {
				s.add(SecretUpload, finding.High, n.Span, "a file of secrets is sent by "+shown(c.program), "send "+c.program)
				return
			}
		}
	}
}

// handsOver reports whether commands print a file of secrets, or the environment.
func handsOver(x lang.Expr) bool {
	found := false
	lang.WalkExpr(x, nil, func(n lang.Node, _ *lang.Scope) bool {
		if c, ok := n.(lang.Call); ok {
			command := commandOf(c)
			found = found || dumpers[path.Base(command.program)] && len(command.args) == 0
			for _, arg := range command.args {
				found = found || holdsPlace(allText(arg))
			}
		}
		return !found
	})
	return found
}

// allText is what constants say in some expressions, the commands in them included and functions left out.
func allText(list ...lang.Expr) string {
	var b strings.Builder
	for _, x := range list {
		lang.WalkExpr(x, nil, func(n lang.Node, _ *lang.Scope) bool {
			if k, ok := n.(lang.Const); ok && k.Kind == lang.String && b.Len() < 2_000 {
				b.WriteString(k.Text[:min(len(k.Text), 500)] + " ")
			}
			_, isFunction := n.(*lang.Function)
			return !isFunction
		})
	}
	return strings.TrimSpace(b.String())
}

// holdsPlace reports whether a text names a file of secrets.
func holdsPlace(text string) bool {
	return placeOfSecrets.MatchString(publicKey.ReplaceAllString(text, ""))
}

// substitutes reports whether a command's output stands in an expression.
func substitutes(x lang.Expr) bool {
	found := false
	lang.WalkExpr(x, nil, func(n lang.Node, _ *lang.Scope) bool {
		op, ok := n.(lang.Operation)
		found = found || ok && (op.Op == "$()" || op.Op == "<()")
		return !found
	})
	return found
}
