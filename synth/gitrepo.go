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
)

// history is what a repository holds: who made the one commit and when, its files in the
// order of git's index, and what the working tree holds instead of its README.md.
type history struct {
	name, email, subject string
	at                   time.Time // of the working tree
	tracked              []trackedFile
	changedText          string
}

type trackedFile struct{ name, data string }

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

// objects are the loose objects of the one commit, the commit last, and the blobs in the order
// of the index.
func (h *history) objects() (all, blobs []gitObject) {
	tracked, author := h.tracked, h.author()
	var tree bytes.Buffer
	blobs = make([]gitObject, len(tracked))
	for i, f := range tracked {
		blobs[i] = object("blob", []byte(f.data))
		fmt.Fprintf(&tree, "100644 %s\x00", f.name)
		tree.Write(blobs[i].id[:])
	}
	root := object("tree", tree.Bytes())
	when := h.at.Add(-72 * time.Hour)
	commit := object("commit", fmt.Appendf(nil, "tree %x\nauthor %s %s\ncommitter %s %s\n\n%s\n",
		root.id, author, stamp(when), author, stamp(when), h.subject))
	return append(slices.Clone(blobs), root, commit), blobs
}

// remote is a bare repository with the same commit, from which the other one was cloned.
func (h *history) remote() []repoFile {
	all, _ := h.objects()
	out := []repoFile{
		{name: "HEAD", data: []byte("ref: refs/heads/" + branchName + "\n")},
		{name: "config", data: []byte("[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n")},
		{name: "refs/heads/" + branchName, data: fmt.Appendf(nil, "%x\n", all[len(all)-1].id)},
		{name: "refs/tags", dir: true}, {name: "objects/info", dir: true}, {name: "objects/pack", dir: true},
	}
	for _, o := range all {
		out = append(out, repoFile{name: strings.TrimPrefix(o.name(), ".git/"), data: o.data})
	}
	return out
}

// repository is a git repository with one commit and README.md changed since,
// as git itself would have left it. It was cloned from remote, a path.
func (h *history) repository(remote string) []repoFile {
	tracked, author := h.tracked, h.author()
	all, blobs := h.objects()
	commit, when := all[len(all)-1], h.at.Add(-72*time.Hour)
	var out []repoFile
	for _, o := range all {
		out = append(out, repoFile{name: o.name(), data: o.data})
	}
	text := func(name, data string) { out = append(out, repoFile{name: name, data: []byte(data)}) }
	text(".git/HEAD", "ref: refs/heads/"+branchName+"\n")
	text(".git/refs/heads/"+branchName, fmt.Sprintf("%x\n", commit.id))
	text(".git/config", "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"+
		"[remote \"origin\"]\n\turl = "+remote+"\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n"+
		"[branch \""+branchName+"\"]\n\tremote = origin\n\tmerge = refs/heads/"+branchName+"\n"+
		"[user]\n\tname = "+h.name+"\n\temail = "+h.email+"\n")
	text(".git/refs/remotes/origin/"+branchName, fmt.Sprintf("%x\n", commit.id))
	text(".git/description", "Unnamed repository; edit this file 'description' to name the repository.\n")
	text(".git/info/exclude", "# Lines that start with '#' are comments.\n")
	entry := fmt.Sprintf("%s %x %s %s\tcommit (initial): %s\n", strings.Repeat("0", 2*sha1.Size), commit.id, author, stamp(when), h.subject)
	text(".git/logs/HEAD", entry)
	text(".git/logs/refs/heads/"+branchName, entry)
	for _, d := range []string{".git/refs/tags", ".git/objects/info", ".git/objects/pack", ".git/hooks"} {
		out = append(out, repoFile{name: d, dir: true})
	}
	out = append(out, repoFile{name: ".git/index", data: h.index(blobs)})
	for _, f := range tracked {
		data := f.data
		if f.name == changedName {
			data = h.changedText
		}
		text(f.name, data)
	}
	return out
}

// index is git's index, version 2. The stat data is the time of the working tree and the
// committed size; inode and device are unknown, so git compares the content,
// which is what it does on a copied tree too.
func (h *history) index(blobs []gitObject) []byte {
	b := []byte("DIRC")
	u32 := func(v int64) { b = binary.BigEndian.AppendUint32(b, uint32(v)) }
	u32(2)
	u32(int64(len(h.tracked)))
	for i, f := range h.tracked {
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
		b = append(b, blobs[i].id[:]...)
		b = binary.BigEndian.AppendUint16(b, uint16(len(f.name)))
		b = append(b, f.name...)
		// Each entry is padded with one to eight zeros to a multiple of eight.
		b = append(b, make([]byte, 8-(len(b)-start)%8)...)
	}
	sum := sha1.Sum(b)
	return append(b, sum[:]...)
}
