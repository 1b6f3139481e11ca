//go:build linux && (amd64 || arm64)

package seccomp

import (
	"encoding/binary"
	"testing"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
	"pgregory.net/rapid"
)

// machine runs a filter as the kernel does. The bpf package reads numbers in
// network order, so the data is laid out in that.
type machine struct{ vm *bpf.VM }

func newMachine(t testing.TB, p Policy, notify bool) machine {
	t.Helper()
	program, err := p.program(notify)
	if err != nil {
		t.Fatal(err)
	}
	raw := make([]bpf.RawInstruction, len(program))
	for i, s := range program {
		raw[i] = bpf.RawInstruction{Op: s.Code, Jt: s.Jt, Jf: s.Jf, K: s.K}
	}
	code, ok := bpf.Disassemble(raw)
	if !ok {
		t.Fatalf("the filter has an instruction that is not known: %v", code)
	}
	vm, err := bpf.NewVM(code)
	if err != nil {
		t.Fatal(err)
	}
	return machine{vm}
}

func (m machine) run(t testing.TB, c *Call) uint32 {
	t.Helper()
	data := binary.BigEndian.AppendUint32(nil, c.NR)
	data = binary.BigEndian.AppendUint32(data, c.Arch)
	data = append(data, make([]byte, 8)...) // the instruction pointer
	for _, a := range c.Args {
		data = binary.BigEndian.AppendUint32(data, uint32(a))
		data = binary.BigEndian.AppendUint32(data, uint32(a>>32))
	}
	got, err := m.vm.Run(data)
	if err != nil {
		t.Fatal(err)
	}
	return uint32(got)
}

// want is what the filter must say of a call, by the rules themselves.
func want(p Policy, c *Call, notify bool) uint32 {
	errno, quiet := "", false
	switch {
	case c.Arch != native:
		errno = errForeign
	case c.NR == skipped:
	case c.NR >= x32:
		errno = errForeign
	default:
		if r := p.refuses(numbers, c); r != nil {
			errno, quiet = r.errno, r.reserves
		}
	}
	switch {
	case errno == "":
		return unix.SECCOMP_RET_ALLOW
	case notify && !quiet:
		return unix.SECCOMP_RET_USER_NOTIF
	}
	return unix.SECCOMP_RET_ERRNO | uint32(errnos[errno])
}

// The filter that the kernel runs refuses what the rules refuse, and nothing else.
func FuzzFilterFollowsTheRules(f *testing.F) {
	for _, nr := range numbers {
		f.Add(nr, uint32(native), uint64(40), uint64(0), uint64(12))
		f.Add(nr, uint32(native), uint64(cloneNewUser), uint64(0), uint64(0))
		f.Add(nr, uint32(native), uint64(1), uint64(0), uint64(0))
		f.Add(nr, uint32(native), uint64(1), uint64(resvSpace64), uint64(0))
		f.Add(nr|x32, uint32(native), uint64(2), uint64(0), uint64(0))
		f.Add(nr, uint32(unix.AUDIT_ARCH_I386), uint64(2), uint64(0), uint64(0))
	}
	f.Add(uint32(skipped), uint32(native), uint64(0), uint64(0), uint64(0))
	f.Fuzz(func(t *testing.T, nr, arch uint32, a, b, c uint64) {
		call := &Call{Arch: arch, NR: nr, Args: [6]uint64{a, b, c}}
		for _, p := range []Policy{{}, {AllowUserNS: true}, {NoReserve: true}} {
			for _, notify := range []bool{true, false} {
				if got, want := newMachine(t, p, notify).run(t, call), want(p, call, notify); got != want {
					t.Errorf("%+v of %+v: %#x, want %#x", p, call, got, want)
				}
			}
		}
	})
}

// Sockets of other families are refused whatever stands in the halves of their
// arguments at which the kernel does not look.
func TestOnlyFourFamiliesPass(t *testing.T) {
	m := newMachine(t, Policy{}, true)
	rapid.Check(t, func(r *rapid.T) {
		family, protocol := rapid.Uint32Range(0, 60).Draw(r, "family"), rapid.Uint32Range(0, 30).Draw(r, "protocol")
		high := rapid.Uint64().Draw(r, "high") << 32
		call := &Call{Arch: native, NR: numbers["socket"], Args: [6]uint64{high | uint64(family), rapid.Uint64().Draw(r, "type"), high | uint64(protocol)}}
		passes := family == familyUnix || family == familyInet || family == familyInet6 || family == familyNetlink && protocol == netlinkRoute
		if got := m.run(t, call) == unix.SECCOMP_RET_ALLOW; got != passes {
			t.Errorf("family %d, protocol %d: passes %t", family, protocol, got)
		}
	})
}

// Room is reserved where file systems have a bound, and nowhere else.
func TestNoReserve(t *testing.T) {
	for _, notify := range []bool{true, false} {
		m, free := newMachine(t, Policy{NoReserve: true}, notify), newMachine(t, Policy{}, notify)
		for _, c := range []struct {
			name   string
			arg    uint64
			passes bool
		}{{"fallocate", 0, false}, {"fallocate", 3, false}, {"ioctl", resvSpace, false}, {"ioctl", 1<<32 | resvSpace64, false}, {"ioctl", zeroRange, false}, {"ioctl", 0x5401, true}} {
			call := &Call{Arch: native, NR: numbers[c.name], Args: [6]uint64{1, c.arg}}
			want := unix.SECCOMP_RET_ERRNO | uint32(unix.EOPNOTSUPP)
			if c.passes {
				want = unix.SECCOMP_RET_ALLOW
			}
			if got := m.run(t, call); got != want {
				t.Errorf("%s %#x: %#x", c.name, c.arg, got)
			}
			if got := free.run(t, call); got != unix.SECCOMP_RET_ALLOW {
				t.Errorf("%s %#x without a reason: %#x", c.name, c.arg, got)
			}
		}
	}
}

func TestAllowUserNSAllowsThatAlone(t *testing.T) {
	m := newMachine(t, Policy{AllowUserNS: true}, true)
	for name, c := range map[string]struct {
		args   [6]uint64
		passes bool
	}{
		"unshare": {[6]uint64{cloneNewUser}, true}, "clone": {[6]uint64{cloneNewUser}, true}, "clone3": {passes: true},
		"seccomp": {passes: true}, "prctl": {[6]uint64{setSeccomp}, true}, "keyctl": {}, "userfaultfd": {}, "io_uring_setup": {},
		"bpf": {}, "socket": {args: [6]uint64{40}},
	} {
		call := &Call{Arch: native, NR: numbers[name], Args: c.args}
		if got := m.run(t, call) == unix.SECCOMP_RET_ALLOW; got != c.passes {
			t.Errorf("%s: passes %t", name, got)
		}
	}
}

func TestEveryRuleHasItsNumberAndErrno(t *testing.T) {
	for _, r := range rules {
		if numbers[r.name] == 0 || errnos[r.errno] == 0 {
			t.Errorf("%s, %s: no number", r.name, r.errno)
		}
	}
}

// Whatever numbers a target makes up, they are told in few words.
func TestArgumentsAreBounded(t *testing.T) {
	said := map[string]bool{}
	for f := range uint64(5000) {
		said[family(&[6]uint64{f, 0, f})] = true
		said[family(&[6]uint64{familyNetlink, 0, f})] = true
	}
	if len(said) > 100 {
		t.Errorf("%d texts", len(said))
	}
}
