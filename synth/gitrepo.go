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
	author      = "Alex Morgan <alex@example.com>"
	subject     = "Start the project"
)

// tracked are the files of the one commit, in the order of git's index.
var tracked = []struct{ name, data string }{
	{".gitignore", "__pycache__/\n*.log\n"},
	{changedName, "# Garden project\n\nA small program that counts windows.\n"},
	{"main.py", "def main():\n    print(\"hello\")\n\n\nif __name__ == \"__main__\":\n    main()\n"},
}

// changedText is what the working tree holds instead of the commit's README.md.
const changedText = "# Garden project\n\nA small program that counts windows and benches.\n\n## Use\n\nRun main.py.\n"

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

// repository is a git repository with one commit and README.md changed since,
// as git itself would have left it.
func repository() []repoFile {
	var out []repoFile
	var tree bytes.Buffer
	blobs := make([]gitObject, len(tracked))
	for i, f := range tracked {
		blobs[i] = object("blob", []byte(f.data))
		fmt.Fprintf(&tree, "100644 %s\x00", f.name)
		tree.Write(blobs[i].id[:])
	}
	root := object("tree", tree.Bytes())
	when := planted.Add(-72 * time.Hour)
	commit := object("commit", fmt.Appendf(nil, "tree %x\nauthor %s %s\ncommitter %s %s\n\n%s\n",
		root.id, author, stamp(when), author, stamp(when), subject))
	for _, o := range append(slices.Clone(blobs), root, commit) {
		out = append(out, repoFile{name: o.name(), data: o.data})
	}
	text := func(name, data string) { out = append(out, repoFile{name: name, data: []byte(data)}) }
	text(".git/HEAD", "ref: refs/heads/"+branchName+"\n")
	text(".git/refs/heads/"+branchName, fmt.Sprintf("%x\n", commit.id))
	text(".git/config", "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = true\n"+
		"[user]\n\tname = Alex Morgan\n\temail = alex@example.com\n")
	text(".git/description", "Unnamed repository; edit this file 'description' to name the repository.\n")
	text(".git/info/exclude", "# Lines that start with '#' are comments.\n")
	entry := fmt.Sprintf("%s %x %s %s\tcommit (initial): %s\n", strings.Repeat("0", 2*sha1.Size), commit.id, author, stamp(when), subject)
	text(".git/logs/HEAD", entry)
	text(".git/logs/refs/heads/"+branchName, entry)
	for _, d := range []string{".git/refs/tags", ".git/objects/info", ".git/objects/pack", ".git/hooks"} {
		out = append(out, repoFile{name: d, dir: true})
	}
	out = append(out, repoFile{name: ".git/index", data: index(blobs)})
	for _, f := range tracked {
		data := f.data
		if f.name == changedName {
			data = changedText
		}
		text(f.name, data)
	}
	return out
}

// index is git's index, version 2. The stat data is the planted time and the
// committed size; inode and device are unknown, so git compares the content,
// which is what it does on a copied tree too.
func index(blobs []gitObject) []byte {
	b := []byte("DIRC")
	u32 := func(v int64) { b = binary.BigEndian.AppendUint32(b, uint32(v)) }
	u32(2)
	u32(int64(len(tracked)))
	for i, f := range tracked {
		start := len(b)
		u32(planted.Unix()) // ctime
		u32(0)
		u32(planted.Unix()) // mtime
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
