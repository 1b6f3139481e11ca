package canaries

import (
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// home collects what a decoy developer's machine holds.
type home struct {
	mint *mint
	now  time.Time

	user, dir, host            string
	name, email, company, repo string

	list  []Canary
	files []File
	env   []string
	// workspaces are the absolute paths of those that were planted.
	workspaces []string
}

var (
	firstNames = strings.Fields("alice anna ben carla daniel elena felix gabriel hanna ivan jonas judith karim lena lukas maria marta nadia nora oliver pablo paula petra priya rosa samuel sofia stefan thomas victor wei yuki")
	lastNames  = strings.Fields("almeida andersen bauer becker brooks carter costa dubois evans fischer garcia haas ibarra jansen keller kowalski larsen lindqvist martin meyer moreau nakamura novak olsen patel peters rossi santos schmidt silva tanaka turner vogel weber young")
	machines   = strings.Fields("thinkpad t14 x1 xps xps13 latitude laptop desktop workstation framework nuc ryzen")
	companyA   = strings.Fields("north bright clear river stone silver open blue green quiet harbor summit cedar maple iron solar amber")
	companyB   = strings.Fields("field works labs bridge point lane grid forge wave crest loop stack yard path gate leaf")
	tlds       = strings.Fields("io dev com tech cloud")
	services   = strings.Fields("billing-api checkout-web inventory-service notifications orders-worker payments-gateway search-indexer user-portal reporting-jobs media-resizer")
	regions    = strings.Fields("eu-central-1 eu-west-1 us-east-1 us-east-2 us-west-2 ap-southeast-2")
)

// DrawUser draws the login name of a developer.
func DrawUser(rand io.Reader) (string, error) {
	m := newMint(rand)
	_, _, user := m.person()
	return user, m.err
}

// person draws the names of a developer.
func (m *mint) person() (first, last, user string) {
	first, last = m.pick(firstNames), m.pick(lastNames)
	return first, last, m.pick([]string{first, first[:1] + last, first + last[:1]})
}

func newHome(m *mint, opts Options) *home {
	names := m
	if opts.Names != nil {
		names = newMint(opts.Names)
	}
	first, last, user := names.person()
	h := &home{mint: m, now: opts.Now, user: opts.User, dir: opts.Home}
	if h.user == "" {
		h.user = user
	}
	if h.dir == "" {
		h.dir = "/home/" + h.user
	}
	h.dir = path.Clean(h.dir)
	h.name = title(first) + " " + title(last)
	h.host = m.pick([]string{first, last, h.user}) + "-" + m.pick(machines)
	h.company = m.pick(companyA) + m.pick(companyB)
	h.email = first + "." + last + "@" + h.company + "." + m.pick(tlds)
	h.repo = m.pick(services)
	return h
}

func title(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// domain is the company's.
func (h *home) domain() string { return h.email[strings.IndexByte(h.email, '@')+1:] }

// at is a path inside the decoy HOME.
func (h *home) at(rel string) string { return path.Join(h.dir, rel) }

// file adds a file that was last changed some days ago.
func (h *home) file(rel string, mode fs.FileMode, data string) {
	h.fileAt(h.at(rel), mode, data)
}

// fileAt adds a file by its absolute path.
func (h *home) fileAt(name string, mode fs.FileMode, data string) {
	h.files = append(h.files, File{Path: name, Mode: mode, Data: []byte(data), ModTime: h.past(400)})
}

// privateDirs are the directories whose mode is 0700.
var privateDirs = []string{
	".ssh", ".aws", ".kube", ".docker", ".gnupg", ".config/gh", ".config/gcloud",
	".config/Claude", ".config/google-chrome", ".config/google-chrome/Default",
	".mozilla", ".ethereum", ".ethereum/keystore", ".config/argocd", ".config/Code", ".config/Code/User",
}

// past is a moment at most so many days ago, and at least two hours.
func (h *home) past(days int) time.Time {
	ago := 2*time.Hour + time.Duration(h.mint.intn(days*24*3600))*time.Second
	return h.now.Add(-ago).Truncate(time.Second)
}

// secret records a canary that stands in a file, and returns its value.
func (h *home) secret(id, kind, rel, value string, issuers ...string) string {
	return h.secretAt(id, kind, h.at(rel), value, issuers...)
}

// secretAt records a canary that stands in a file by its absolute path.
func (h *home) secretAt(id, kind, name, value string, issuers ...string) string {
	h.list = append(h.list, Canary{ID: id, Kind: kind, Value: value, Path: name, Issuers: issuers})
	return value
}

// variable records a canary that stands in the environment; form holds %s where its value goes.
func (h *home) variable(id, kind, name, form, value string, issuers ...string) {
	h.list = append(h.list, Canary{ID: id, Kind: kind, Value: value, Env: name, Issuers: issuers})
	h.env = append(h.env, name+"="+fmt.Sprintf(form, value))
}

// within reports whether a path is a directory or lies below it.
func within(dir, name string) bool {
	return name == dir || strings.HasPrefix(name, strings.TrimSuffix(dir, "/")+"/")
}

// tree is the files with all their directories, parents first; of those outside
// HOME the directories are not ours to make.
func (h *home) tree() []File {
	dirs := map[string]File{}
	for _, d := range []string{"Desktop", "Documents", "Downloads", "Pictures"} {
		dirs[h.at(d)] = File{Path: h.at(d), Mode: 0o755, Dir: true, ModTime: h.past(400)}
	}
	var outside []File
	for _, f := range h.files {
		if !within(h.dir, f.Path) {
			outside = append(outside, f)
			continue
		}
		for d := path.Dir(f.Path); within(h.dir, d); d = path.Dir(d) {
			dir := dirs[d]
			dir.Path, dir.Mode, dir.Dir = d, h.dirMode(d), true
			if f.ModTime.After(dir.ModTime) {
				dir.ModTime = f.ModTime
			}
			dirs[d] = dir
			if d == h.dir {
				break
			}
		}
	}
	var out []File
	for _, d := range dirs {
		out = append(out, d)
	}
	for _, f := range h.files {
		if within(h.dir, f.Path) {
			out = append(out, f)
		}
	}
	slices.SortFunc(out, func(a, b File) int { return strings.Compare(a.Path, b.Path) })
	return append(out, outside...)
}

func (h *home) dirMode(dir string) fs.FileMode {
	for _, p := range privateDirs {
		if dir == h.at(p) {
			return 0o700
		}
	}
	return 0o755
}
