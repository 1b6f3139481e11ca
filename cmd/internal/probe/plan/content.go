package plan

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/coalmine-dev/coalmine/canaries/secrets"
	"github.com/coalmine-dev/coalmine/sandbox/session"
	"github.com/coalmine-dev/coalmine/sandbox/shown"
)

// ContentFile is the file of a run's directory that says by content what was run.
const ContentFile = "target.json"

// ContentSchema is the version of that file.
const ContentSchema = "coalmine/target/v1"

// Content says what a run starts, by its content and not by its name, and how much the run
// tries.
type Content struct {
	Schema  string `json:"schema"`
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	// Digest, "sha256:…", is that of the command, its variables, its files and what surrounds
	// it: equal digests mean equal runs, up to the seed and the machine. It is "" where the
	// content is not known, and Unknown says why.
	Digest  string `json:"digest,omitempty"`
	Unknown string `json:"unknown,omitempty"`
	Effort  Effort `json:"effort"`
}

// Effort is how much a probe tries.
type Effort struct {
	Budget
	Vary []string `json:"vary,omitempty"`
}

// Less says in which respect an effort is less than another one, "" where it is in none.
func (e Effort) Less(than Effort) string {
	if e.Calls < than.Calls {
		return fmt.Sprintf("%d calls of each tool, not %d", e.Calls, than.Calls)
	}
	for _, t := range []struct {
		name      string
		has, need time.Duration
	}{{"the whole run", e.Timeout, than.Timeout}, {"each call", e.CallTimeout, than.CallTimeout}, {"the oracles", e.OracleTime, than.OracleTime}, {"idle", e.Idle, than.Idle}} {
		if t.has < t.need {
			return fmt.Sprintf("%s for %s, not %s", t.has, t.name, t.need)
		}
	}
	for _, factor := range than.Vary {
		if !slices.Contains(e.Vary, factor) {
			return "nothing was run again with another " + factor
		}
	}
	return ""
}

// ContentOf makes the content of a plan that knows what it shows. in is nil for a command.
func ContentOf(ctx context.Context, o *Options, in *Fetched, p *Plan) Content {
	id := Content{Schema: ContentSchema, Name: p.Target, Effort: Effort{Budget: o.Budget, Vary: o.Vary}}
	if in != nil {
		id.Version = in.Package.Version
	}
	parts, err := digest(ctx, o, in, p)
	if err != nil {
		id.Unknown = err.Error()
		return id
	}
	data, err := json.Marshal(parts)
	if err != nil {
		id.Unknown = err.Error()
		return id
	}
	sum := sha256.Sum256(data)
	id.Digest = "sha256:" + hex.EncodeToString(sum[:])
	return id
}

// digested is all that goes into a digest.
type digested struct {
	Schema, Files               string
	Command, Args, Places, Vars []string
	Kind, Name, Bin, Entrypoint string
	NoBuild, AllowUserNS        bool
	NoTLSProbes                 bool `json:",omitempty"`
	Env, Dummies                map[string]string
	Transport, Network, Replies string
	Image, Runtime, Sandboxed   string
}

func digest(ctx context.Context, o *Options, in *Fetched, p *Plan) (*digested, error) {
	switch {
	case o.Remote != nil:
		return nil, errors.New("a remote server can change at any time")
	case o.Replay != nil:
		return nil, errors.New("a replay makes the calls of one finding alone")
	case len(o.PassEnv) > 0:
		return nil, errors.New("real values were passed to the server, and no digest holds them")
	case len(o.Show) > 0:
		return nil, errors.New("paths of this machine were shown to the server")
	case len(o.TextJudge) > 0:
		return nil, errors.New("a program of yours judged with it")
	}
	c := &digested{Schema: ContentSchema, Entrypoint: o.Entrypoint, Places: o.Places, Vars: o.Vars, NoBuild: o.NoBuild, NoTLSProbes: o.NoTLSProbes, AllowUserNS: o.AllowUserNS, Env: o.Env, Dummies: o.Dummies, Transport: o.Transport, Network: o.Network, Image: o.Image, Runtime: o.Runtime}
	for to, v := range map[*string]any{&c.Replies: o.Replies, &c.Sandboxed: o.Sandboxed} {
		data, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		*to = string(data)
	}
	if in != nil {
		c.Kind, c.Name, c.Bin, c.Args, c.Files = in.Package.Kind, in.Package.Name, in.Package.Bin, o.Args, in.Package.Digest
		if c.Kind == "directory" {
			c.Name = filepath.Base(c.Name)
		}
		if c.Files == "" {
			return nil, errors.New("what was fetched has no digest")
		}
		return c, nil
	}
	if p.View == nil {
		return nil, errors.New("the server has no directory of its own")
	}
	for _, s := range p.Shown {
		if s.Why == session.ShownServer && s.Path != p.View.Real {
			return nil, fmt.Errorf("%s is shown to the server beside its own directory", s.Path)
		}
	}
	for _, word := range o.Command {
		c.Command = append(c.Command, placed(word, p))
	}
	c.Env = map[string]string{}
	for name, value := range o.Env {
		c.Env[name] = placed(value, p)
	}
	var err error
	c.Files, err = viewed(ctx, p.View)
	return c, err
}

// here stands for the repository, or the server's own directory, wherever that lies. No word and no
// path has it.
const here = "\x00"

// placed is a word of a command, with here in place of the way to a directory.
func placed(word string, p *Plan) string {
	for _, dir := range []string{p.Server.Within, p.View.Real, cmp.Or(p.Server.From, p.Server.ServerDir)} {
		if dir == "" || dir == "/" {
			continue
		}
		word = strings.ReplaceAll(word, dir+"/", here+"/")
		if word == dir {
			word = here
		}
	}
	return word
}

// viewed is the digest of all files that a view shows, with their content as it is shown.
func viewed(ctx context.Context, v *shown.View) (string, error) {
	covers := map[string][]byte{}
	for _, c := range v.Covers {
		covers[c.Path] = c.Data
	}
	top, one := v.Real, ""
	if info, err := os.Stat(v.Real); err != nil {
		return "", err
	} else if !info.IsDir() {
		top, one = filepath.Dir(v.Real), filepath.Base(v.Real)
	}
	root, err := os.OpenRoot(top)
	if err != nil {
		return "", err
	}
	defer root.Close()
	h := sha256.New()
	if one != "" {
		data, covered := covers["."]
		err := add(h, root, one, v.Sums, data, covered)
		return hex.EncodeToString(h.Sum(nil)), err
	}
	hidden := map[string]bool{}
	for _, name := range v.Hidden {
		hidden[name] = true
	}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case hidden[name] && err == nil && d.IsDir():
			return fs.SkipDir
		case hidden[name]:
			return nil
		case err != nil:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case d.IsDir():
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			to, err := root.Readlink(name)
			fmt.Fprintf(h, "%q -> %q\n", name, to)
			return err
		}
		data, covered := covers[name]
		return add(h, root, name, v.Sums, data, covered)
	})
	return hex.EncodeToString(h.Sum(nil)), err
}

// add adds a file: its name, whether it can be executed, and the digest of its content or of
// what is shown in its place. known are digests of contents.
func add(h hash.Hash, root *os.Root, name string, known map[string]secrets.Sum, data []byte, covered bool) error {
	info, err := root.Lstat(name)
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s is no file", name)
	}
	sum, ok := known[name]
	switch {
	case covered:
		sum = sha256.Sum256(data)
	case !ok:
		if sum, err = sumOf(root, name); err != nil {
			return err
		}
	}
	fmt.Fprintf(h, "%q %t %x\n", name, info.Mode()&0o111 != 0, sum)
	return nil
}

// sumOf is the digest of a file's content.
func sumOf(root *os.Root, name string) (sum secrets.Sum, err error) {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err = io.Copy(h, f); err != nil {
		return sum, err
	}
	return secrets.Sum(h.Sum(nil)), nil
}

// ReadContent reads what a run was of from its directory.
func ReadContent(dir *os.Root) (*Content, error) {
	data, err := session.ReadFile(dir, ContentFile, maxContent)
	if err != nil {
		return nil, err
	}
	id := &Content{}
	if err := json.Unmarshal(data, id); err != nil {
		return nil, fmt.Errorf("read %s: %w", ContentFile, err)
	}
	if id.Schema != ContentSchema {
		return nil, fmt.Errorf("read %s: its schema is %.40q; this version reads %q", ContentFile, id.Schema, ContentSchema)
	}
	return id, nil
}

// maxContent bounds the file, in bytes.
const maxContent = 1 << 20
