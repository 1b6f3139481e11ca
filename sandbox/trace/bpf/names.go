package bpf

import (
	"strconv"
	"strings"
)

// bit is a flag's or a value's name.
type bit struct {
	value uint64
	name  string
}

// parse reads "NAME=0x1 OTHER=2"; an order that matters is kept.
func parse(list string) []bit {
	words := strings.Fields(list)
	out := make([]bit, 0, len(words))
	for _, w := range words {
		name, value, _ := strings.Cut(w, "=")
		v, err := strconv.ParseUint(value, 0, 64)
		if err != nil {
			panic("bpf: no value: " + w)
		}
		out = append(out, bit{v, name})
	}
	return out
}

// bits writes flags by their names, what has none as a number, and 0 as nothing
// unless it has a name.
func bits(v uint64, names []bit) string {
	var parts []string
	for _, b := range names {
		if b.value == 0 {
			if v == 0 {
				return b.name
			}
			continue
		}
		if v&b.value == b.value {
			parts = append(parts, b.name)
			v &^= b.value
		}
	}
	if v != 0 {
		parts = append(parts, "0x"+strconv.FormatUint(v, 16))
	}
	return strings.Join(parts, "|")
}

// one writes a value by its name, or as a number.
func one(v uint64, names []bit) string {
	for _, b := range names {
		if b.value == v {
			return b.name
		}
	}
	if v == 0 {
		return ""
	}
	return "0x" + strconv.FormatUint(v, 16)
}

// octal writes permissions.
func octal(v uint64) string {
	if v == 0 {
		return "000"
	}
	s := strconv.FormatUint(v, 8)
	return strings.Repeat("0", max(4-len(s), 0)+min(len(s)/4, 1)) + s
}

// mode writes a file's type and its permissions.
func mode(v uint64) string {
	kind := one(v&0o170000, fileTypes)
	if v&0o170000 == 0 {
		return octal(v)
	}
	rest := ""
	for _, b := range fileBits {
		if v&b.value != 0 {
			rest += "|" + b.name
		}
	}
	return kind + rest + "|" + octal(v&0o777)
}

// errno is the name of a failed call's error.
func errno(n int64) string {
	switch n {
	case 512:
		return "ERESTARTSYS"
	case 513:
		return "ERESTARTNOINTR"
	case 514:
		return "ERESTARTNOHAND"
	case 516:
		return "ERESTART_RESTARTBLOCK"
	}
	if name := errnoName(n); name != "" {
		return name
	}
	return "errno " + strconv.FormatInt(n, 10)
}

// signalName is "SIGKILL", as the kernel's own tables have it.
func signalName(n uint64) string {
	switch {
	case n == 0:
		return ""
	case n >= 32 && n <= 64:
		if n == 32 {
			return "SIGRTMIN"
		}
		return "SIGRT_" + strconv.FormatUint(n-32, 10)
	}
	if n < 32 {
		return signals[n]
	}
	return strconv.FormatUint(n, 10)
}

var signals = strings.Fields("0 SIGHUP SIGINT SIGQUIT SIGILL SIGTRAP SIGABRT SIGBUS SIGFPE SIGKILL SIGUSR1 SIGSEGV SIGUSR2 SIGPIPE SIGALRM " +
	"SIGTERM SIGSTKFLT SIGCHLD SIGCONT SIGSTOP SIGTSTP SIGTTIN SIGTTOU SIGURG SIGXCPU SIGXFSZ SIGVTALRM SIGPROF SIGWINCH SIGIO SIGPWR SIGSYS")

var families = strings.Fields("unspec unix inet ax25 ipx appletalk netrom bridge atmpvc x25 inet6 rose decnet netbeui security key netlink " +
	"packet ash econet atmsvc rds sna irda pppox wanpipe llc ib mpls can tipc bluetooth iucv rxrpc isdn phonet ieee802154 caif alg nfc " +
	"vsock kcm qipcrtr smc xdp mctp")

// familyName is an address family's name.
func familyName(n uint64) string {
	if n < uint64(len(families)) {
		return families[n]
	}
	return "0x" + strconv.FormatUint(n, 16)
}
