package synth

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	branchName  = "main"
	changedName = "README.md"
	zeroID      = "0000000000000000000000000000000000000000"
)

// history is what a repository holds: who made the commits, the commits, the first one first, and
// what the working tree holds instead of its README.md.
type history struct {
	name, email string
	at          time.Time // of the working tree
	commits     []commit
	// side is a branch that lacks the latest commit, tag one of the first commit.
	side, tag   string
	changedText string
}

// commit is one of the branch main.
type commit struct {
	subject string
	at      time.Time
	files   []trackedFile // all of them, in the order of git's index
}

type trackedFile struct{ name, data string }

// tracked are the files of the latest commit.
func (h *history) tracked() []trackedFile { return h.commits[len(h.commits)-1].files }

// author is whom git names.
func (h *history) author() string { return h.name + " <" + h.email + ">" }

// repoFile is a file or directory of the repository.
type repoFile struct {
	name string
	data []byte
	dir  bool
}

// gitObject is a loose object.
type gitObject struct {
	id   [sha1.Size]byte
	data []byte
}

// object makes a loose object: its id is the digest of its header and content.
func object(kind string, content []byte) gitObject {
	raw := append(fmt.Appendf(nil, "%s %d\x00", kind, len(content)), content...)
	return gitObject{id: sha1.Sum(raw), data: deflate(raw)}
}

func (o gitObject) name() string {
	h := hex.EncodeToString(o.id[:])
	return ".git/objects/" + h[:2] + "/" + h[2:]
}

func deflate(b []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	// A bytes.Buffer takes every write.
	_, _ = w.Write(b)
	_ = w.Close()
	return out.Bytes()
}

// stored is a history as git stores it: each object once, the ids of the commits, of the tag, and of the
// files of the latest commit.
type stored struct {
	objects        []gitObject
	commits, files [][sha1.Size]byte
	tag            [sha1.Size]byte
}

func (s *stored) add(kind string, content []byte) [sha1.Size]byte {
	o := object(kind, content)
	if !slices.ContainsFunc(s.objects, func(other gitObject) bool { return other.id == o.id }) {
		s.objects = append(s.objects, o)
	}
	return o.id
}

// stored makes the loose objects.
func (h *history) stored() *stored {
	s := &stored{}
	for i, c := range h.commits {
		var tree bytes.Buffer
		s.files = nil
		for _, f := range c.files {
			id := s.add("blob", []byte(f.data))
			s.files = append(s.files, id)
			fmt.Fprintf(&tree, "100644 %s\x00", f.name)
			tree.Write(id[:])
		}
		text := fmt.Sprintf("tree %x\n", s.add("tree", tree.Bytes()))
		if i > 0 {
			text += fmt.Sprintf("parent %x\n", s.commits[i-1])
		}
		by := h.author() + " " + stamp(c.at)
		s.commits = append(s.commits, s.add("commit", []byte(text+"author "+by+"\ncommitter "+by+"\n\n"+c.subject+"\n")))
	}
	s.tag = s.add("tag", fmt.Appendf(nil, "object %x\ntype commit\ntag %s\ntagger %s %s\n\n%s\n",
		s.commits[0], h.tag, h.author(), stamp(h.commits[0].at.Add(time.Hour)), h.tag))
	return s
}

// refs are the branches, by their names, and what they lead to.
func (h *history) refs(s *stored) [][2]string {
	n := len(s.commits)
	return [][2]string{{branchName, fmt.Sprintf("%x", s.commits[n-1])}, {h.side, fmt.Sprintf("%x", s.commits[n-2])}}
}

// remote is a bare repository with the same commits, from which the other one was cloned.
func (h *history) remote() []repoFile {
	s := h.stored()
	out := []repoFile{
		{name: "HEAD", data: []byte("ref: refs/heads/" + branchName + "\n")},
		{name: "config", data: []byte("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n")},
		{name: "refs/tags/" + h.tag, data: fmt.Appendf(nil, "%x\n", s.tag)},
		{name: "objects/info", dir: true}, {name: "objects/pack", dir: true},
	}
	for _, r := range h.refs(s) {
		out = append(out, repoFile{name: "refs/heads/" + r[0], data: []byte(r[1] + "\n")})
	}
	for _, o := range s.objects {
		out = append(out, repoFile{name: strings.TrimPrefix(o.name(), ".git/"), data: o.data})
	}
	return out
}

// repository is a git repository of a few commits and branches, with README.md changed since,
// as git itself would have left it. It was cloned from remote, a path.
func (h *history) repository(remote string) []repoFile {
	s := h.stored()
	var out []repoFile
	for _, o := range s.objects {
		out = append(out, repoFile{name: o.name(), data: o.data})
	}
	text := func(name, data string) { out = append(out, repoFile{name: name, data: []byte(data)}) }
	text(".git/HEAD", "ref: refs/heads/"+branchName+"\n")
	text(".git/config", "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"+
		"[remote \"origin\"]\n\turl = "+remote+"\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"+
		"[branch \""+branchName+"\"]\n\tremote = origin\n\tmerge = refs/heads/"+branchName+"\n"+
		"[user]\n\tname = "+h.name+"\n\temail = "+h.email+"\n")
	text(".git/refs/tags/"+h.tag, fmt.Sprintf("%x\n", s.tag))
	for _, r := range h.refs(s) {
		text(".git/refs/heads/"+r[0], r[1]+"\n")
		text(".git/refs/remotes/origin/"+r[0], r[1]+"\n")
	}
	text(".git/description", "Unnamed repository; edit this file 'description' to name the repository.\n")
	text(".git/info/exclude", "# Lines that start with '#' are comments.\n")
	log := h.log(s)
	text(".git/logs/HEAD", log)
	text(".git/logs/refs/heads/"+branchName, log)
	n := len(s.commits)
	text(".git/logs/refs/heads/"+h.side, h.entry(zeroID, s.commits[n-2], h.commits[n-2].at.Add(time.Hour), "branch: Created from HEAD"))
	for _, d := range []string{".git/objects/info", ".git/objects/pack", ".git/hooks"} {
		out = append(out, repoFile{name: d, dir: true})
	}
	out = append(out, repoFile{name: ".git/index", data: h.index(s)})
	for _, f := range h.tracked() {
		data := f.data
		if f.name == changedName {
			data = h.changedText
		}
		text(f.name, data)
	}
	return out
}

// log is what git writes of each commit to main.
func (h *history) log(s *stored) string {
	out, before := "", zeroID
	for i, c := range h.commits {
		did := "commit: "
		if i == 0 {
			did = "commit (initial): "
		}
		out += h.entry(before, s.commits[i], c.at, did+c.subject)
		before = fmt.Sprintf("%x", s.commits[i])
	}
	return out
}

// entry is a line of a log of git's.
func (h *history) entry(before string, after [sha1.Size]byte, at time.Time, did string) string {
	return fmt.Sprintf("%s %x %s %s\t%s\n", before, after, h.author(), stamp(at), did)
}

// index is git's index, version 2. The stat data is the time of the working tree and the
// committed size; inode and device are unknown, so git compares the content,
// which is what it does on a copied tree too.
func (h *history) index(s *stored) []byte {
	b := []byte("DIRC")
	u32 := func(v int64) { b = binary.BigEndian.AppendUint32(b, uint32(v)) }
	u32(2)
	u32(int64(len(h.tracked())))
	for i, f := range h.tracked() {
		start := len(b)
		u32(h.at.Unix()) // ctime
		u32(0)
		u32(h.at.Unix()) // mtime
		u32(0)
		u32(0) // device
		u32(0) // inode
		u32(0o100644)
		u32(0) // user
		u32(0) // group
		u32(int64(len(f.data)))
		b = append(b, s.files[i][:]...)
		b = binary.BigEndian.AppendUint16(b, uint16(len(f.name)))
		b = append(b, f.name...)
		// Each entry is padded with one to eight zeros to a multiple of eight.
		b = append(b, make([]byte, 8-(len(b)-start)%8)...)
	}
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}
