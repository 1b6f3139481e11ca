package audit

import (
	"strings"

	"github.com/coalmine-dev/coalmine/analyze/finding"
	"github.com/coalmine-dev/coalmine/audit/lang/dockerfile"
	"github.com/coalmine-dev/coalmine/canaries/lazyregexp"
)

// The rules for images and for commands in configurations.
const (
	ContainerRoot   = "container-root"
	ContainerSecret = "secret-in-image" //nolint:gosec // the name of a rule
	RemoteAdd       = "remote-add"
)

// docker judges a Dockerfile.
func (a *auditor) docker(p, src string) {
	stages := map[string]bool{}
	var from, user *dockerfile.Instruction
	list := dockerfile.Parse(src)
	for i := range list {
		in := &list[i]
		fields := strings.Fields(in.Text)
		switch in.Name {
		case "FROM":
			from, user = in, nil
			if len(fields) > 0 && !stages[strings.ToLower(fields[0])] && !isPinnedImage(fields[0]) {
				a.add(UnpinnedInstall, finding.Low, p, src, in.Offset, "the image has no version: "+shown(fields[0]), fields[0])
			}
			if len(fields) > 2 && strings.EqualFold(fields[1], "as") {
				stages[strings.ToLower(fields[2])] = true
			}
		case "USER":
			user = in
		case "ENV", "ARG":
			a.imageSecret(p, src, in)
		case "ADD":
			if len(fields) > 0 && isRemote(fields[0]) && !hasFlag(in.Flags, "--checksum") {
				a.add(RemoteAdd, finding.Medium, p, src, in.Offset, "ADD takes a file from an address, without --checksum", fields[0])
			}
		case "RUN":
			a.dockerRun(p, src, in)
		}
	}
	if from == nil {
		return
	}
	image, _, _ := strings.Cut(strings.TrimSpace(from.Text), " ")
	switch {
	case user == nil && !strings.Contains(image, "nonroot"):
		a.add(ContainerRoot, finding.Low, p, src, from.Offset, "no USER is named: the server runs as root unless the image says otherwise", "")
	case user != nil && isRoot(user.Text):
		a.add(ContainerRoot, finding.Low, p, src, user.Offset, "the server runs as root", "")
	}
}

func isRoot(user string) bool {
	name, _, _ := strings.Cut(strings.TrimSpace(user), ":")
	return name == "root" || name == "0"
}

func hasFlag(flags []string, name string) bool {
	for _, f := range flags {
		if f == name || strings.HasPrefix(f, name+"=") {
			return true
		}
	}
	return false
}

func isRemote(word string) bool {
	return strings.HasPrefix(word, "http://") || strings.HasPrefix(word, "https://")
}

// isPinnedImage reports whether the name of an image has a version. A variable may.
func isPinnedImage(image string) bool {
	if image == "scratch" || strings.Contains(image, "$") || strings.Contains(image, "@") {
		return true
	}
	last := image[strings.LastIndexByte(image, '/')+1:]
	_, tag, ok := strings.Cut(last, ":")
	return ok && tag != "latest"
}

// dockerRun judges the commands of an instruction, in each of its forms.
func (a *auditor) dockerRun(p, src string, in *dockerfile.Instruction) {
	piped := finding.Medium // whoever builds the image runs it, and no user of the server
	if strings.Contains("/"+p, "/.devcontainer/") {
		piped = finding.Low // the makers alone build it
	}
	read := true
	switch {
	case len(in.Here) > 0:
		for _, h := range in.Here {
			read = a.shellText(p, src, h.Text, h.Offset, piped) && read
		}
	case in.Exec != nil:
		read = a.shellText(p, src, quoted(in.Exec), in.TextAt, piped)
	default:
		read = a.shellText(p, src, in.Text, in.TextAt, piped)
	}
	if !read {
		a.report.Profile.Unread++
	}
}

// quoted are words as a shell reads them; those of sh -c are its commands.
func quoted(list []string) string {
	if len(list) > 2 && interpreters[list[0][strings.LastIndexByte(list[0], '/')+1:]] && list[1] == "-c" {
		return list[2]
	}
	var out []string
	for _, w := range list {
		out = append(out, "'"+strings.ReplaceAll(w, "'", `'\''`)+"'")
	}
	return strings.Join(out, " ")
}

var (
	// secretName is the name of a variable that holds a secret.
	secretName = lazyregexp.New(`(?i)(?:^|_)(?:API_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|PRIVATE_?KEY|ACCESS_?KEY)(?:_|$)`)
	// placeholder is a value that stands for another.
	placeholder = lazyregexp.New(`(?i)^$|\$|^<.*>$|^\[.*\]$|^\{.*\}$|your|change|example|placeholder|dummy|replace|secret|password|token|key_here|^x+$|^\*+$|^\.+$|^(?:none|null|true|false|test|todo|default|foo|bar|abc|\d{1,5})$|^/|^https?:|^[a-z_-]+$`)
	assignment  = lazyregexp.New(`([A-Za-z_][A-Za-z0-9_]*)(?:=|\s+)("[^"]*"|'[^']*'|\S*)`)
)

// holdsSecret reports whether a variable is given a secret by name and value.
func holdsSecret(name, value string) bool {
	return secretName.MatchString(name) && isSecret(value)
}

// imageSecret reports values of variables that stay in the image. They are not printed.
func (a *auditor) imageSecret(p, src string, in *dockerfile.Instruction) {
	for _, m := range assignment.FindAllStringSubmatchIndex(in.Text, 50) {
		name, value := in.Text[m[2]:m[3]], strings.Trim(in.Text[m[4]:m[5]], `"'`)
		if holdsSecret(name, value) {
			a.add(ContainerSecret, finding.Medium, p, src, in.TextAt+m[2], in.Name+" gives "+shown(name)+" a value that stays in the image", name)
		}
		if in.Name == "ARG" || !strings.Contains(in.Text, "=") {
			return
		}
	}
}
