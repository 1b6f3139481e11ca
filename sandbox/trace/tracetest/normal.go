package tracetest

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/coalmine-dev/coalmine/sandbox/trace"
)

// firstFree is the lowest port that the kernel gives by itself.
const firstFree = 32768

// objects are kernel objects without a path, named by their inode.
var objects = regexp.MustCompile(`(socket|pipe|ns):\[(\d+)\]`)

// own are paths of a process's own that hold its number.
var own = regexp.MustCompile(`^/proc/(\d+)(/|$)`)

// normal gives what the kernel chose the names of the order in which it appears.
type normal struct {
	tasks  map[int]string
	inodes map[string]string
	ports  map[int]int
	subst  []string
}

// Diff says how what two tracers have seen of the same program differs, "" if it
// does not. Lines says what subst is.
func Diff(a, b []trace.Record, substA, substB []string) string {
	if err := check(a); err != nil {
		return "the first: " + err.Error()
	}
	if err := check(b); err != nil {
		return "the second: " + err.Error()
	}
	return cmp.Diff(Lines(a, substA...), Lines(b, substB...))
}

// Common is what both tracers can tell of what eBPF has seen: all but the file that
// runs after an exec, which must be there in each that succeeded and nowhere else.
func Common(records []trace.Record) ([]trace.Record, error) {
	out := slices.Clone(records)
	for i := range out {
		r := &out[i]
		if runs := r.Op == trace.OpExec && r.OK(); runs != (r.Exe != "") || r.Script && !runs {
			return nil, fmt.Errorf("record %d, %s of %q: Exe is %q, Script %v", r.Seq, r.Call, r.Path, r.Exe, r.Script)
		}
		r.Exe, r.Script = "", false
	}
	return out, nil
}

// check sees to what Lines takes out: the records are numbered without a gap, and
// none is a minute away from the first.
func check(records []trace.Record) error {
	for i, r := range records {
		if r.Seq != uint64(i+1) {
			return fmt.Errorf("record %d has number %d", i+1, r.Seq)
		}
		if d := r.Time - records[0].Time; r.Time <= 0 || d < -time.Minute || d > time.Minute {
			return fmt.Errorf("record %d is %v away from the first", i+1, d)
		}
	}
	return nil
}

// Lines writes each record as a line of JSON, task by task: the first task is
// "1", its children in the order of their birth "1.1", "1.2". Pairs of old and new
// replace prefixes of paths (a run's own directory). What is compared is every
// field of a record but Seq and Time.
func Lines(records []trace.Record, subst ...string) []string {
	n := &normal{tasks: map[int]string{}, inodes: map[string]string{}, ports: map[int]int{}, subst: subst}
	n.name(records)
	by := map[string][]string{}
	for i := range records {
		by[n.task(records[i].Tid)] = nil
	}
	for name := range by {
		n.inodes, n.ports = map[string]string{}, map[int]int{}
		for i := range records {
			if n.task(records[i].Tid) == name {
				by[name] = append(by[name], name+" "+n.line(records[i]))
			}
		}
	}
	var out []string
	for _, name := range slices.Sorted(maps.Keys(by)) {
		out = append(out, by[name]...)
	}
	return out
}

// name finds each task's place in the tree.
func (n *normal) name(records []trace.Record) {
	if len(records) == 0 {
		return
	}
	n.tasks[records[0].Tid] = "1"
	children := map[string]int{}
	// A child's child may be told of before the child is.
	for range 8 {
		clear(children)
		for i := range records {
			r := &records[i]
			if r.Op != trace.OpFork || r.Child == 0 {
				continue
			}
			parent, ok := n.tasks[r.Tid]
			if !ok {
				continue
			}
			children[parent]++
			n.tasks[r.Child] = fmt.Sprintf("%s.%03d", parent, children[parent])
		}
	}
}

func (n *normal) task(tid int) string {
	if name, ok := n.tasks[tid]; ok {
		return name
	}
	return "?"
}

// line writes one record.
func (n *normal) line(r trace.Record) string {
	r.Seq, r.Time, r.Tid = 0, 0, 0
	child, pid := "", ""
	if r.Child != 0 {
		child = n.task(r.Child)
		if r.Ret == int64(r.Child) {
			r.Ret = 0
			child += ", returned"
		}
		r.Child = 0
	}
	if r.Pid > 0 && n.tasks[r.Pid] != "" {
		pid = n.tasks[r.Pid]
		r.Pid = 0
	}
	if strings.HasPrefix(r.Call, "mmap") && r.OK() {
		r.Ret = 0 // an address
	}
	r.Path, r.To, r.Given, r.Cwd, r.Exe = n.path(r.Path), n.path(r.To), n.path(r.Given), n.path(r.Cwd), n.path(r.Exe)
	if r.Addr != nil {
		a := *r.Addr
		a.Host = n.path(a.Host)
		a.Port = n.port(a.Port)
		r.Addr = &a
	}
	for i, w := range r.Argv {
		r.Argv = slices.Clone(r.Argv)
		r.Argv[i] = n.path(w)
	}
	for i, w := range r.Passed {
		r.Passed = slices.Clone(r.Passed)
		r.Passed[i] = n.path(w)
	}
	b, err := json.Marshal(&r)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%s child=%q pid=%q", b, child, pid)
}

func (n *normal) port(p int) int {
	if p < firstFree {
		return p
	}
	if _, ok := n.ports[p]; !ok {
		n.ports[p] = firstFree + len(n.ports)
	}
	return n.ports[p]
}

func (n *normal) path(p string) string {
	for i := 0; i+1 < len(n.subst); i += 2 {
		if rest, ok := strings.CutPrefix(p, n.subst[i]); ok {
			p = n.subst[i+1] + rest
		}
	}
	p = own.ReplaceAllStringFunc(p, func(s string) string {
		m := own.FindStringSubmatch(s)
		var pid int
		_, _ = fmt.Sscan(m[1], &pid)
		if name := n.tasks[pid]; name != "" {
			return "/proc/<" + name + ">" + m[2]
		}
		return s
	})
	return objects.ReplaceAllStringFunc(p, func(s string) string {
		if _, ok := n.inodes[s]; !ok {
			n.inodes[s] = fmt.Sprintf("%s:[%d]", objects.FindStringSubmatch(s)[1], len(n.inodes)+1)
		}
		return n.inodes[s]
	})
}
