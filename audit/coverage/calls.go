package coverage

import (
	"debug/elf"
	"encoding/binary"

	"golang.org/x/arch/x86/x86asm"

	"github.com/coalmine-dev/coalmine/audit/sinks"
)

// call is a direct call in a program: where it stands and where it leads.
type call struct{ at, to uint64 }

// callsIn are the direct calls in a function's instructions, as far as these are known: a probe
// in the middle of one would break the program.
func callsIn(machine elf.Machine, code []byte, from uint64) []call {
	switch machine {
	case elf.EM_X86_64:
		return callsAMD64(code, from)
	case elf.EM_AARCH64:
		return callsARM64(code, from)
	}
	return nil
}

func callsAMD64(code []byte, from uint64) []call {
	var out []call
	for at := 0; at < len(code); {
		i, err := x86asm.Decode(code[at:], 64)
		if err != nil || i.Len == 0 {
			return out
		}
		if rel, ok := i.Args[0].(x86asm.Rel); ok && i.Op == x86asm.CALL {
			here := from + uint64(at)                                                //nolint:gosec // an offset in code
			out = append(out, call{here, here + uint64(i.Len) + uint64(int64(rel))}) //nolint:gosec // it wraps as addresses do
		}
		at += i.Len
	}
	return out
}

func callsARM64(code []byte, from uint64) []call {
	const mask, bl = 0xfc000000, 0x94000000
	var out []call
	for at := 0; at+4 <= len(code); at += 4 {
		word := binary.LittleEndian.Uint32(code[at:])
		if word&mask != bl {
			continue
		}
		here := from + uint64(at)                         //nolint:gosec // an offset in code
		rel := int64(int32(word<<6)) >> 6 << 2            //nolint:gosec // 26 bits with a sign count words
		out = append(out, call{here, here + uint64(rel)}) //nolint:gosec // it wraps as addresses do
	}
	return out
}

// goSinks are functions of Go's library that act on the world, by their names in a program. Short
// ones of the package are inlined, and what they call stands here.
var goSinks = byKind(map[sinks.Kind][]string{
	sinks.Read: {"os.ReadFile", "os.Open", "os.OpenFile", "os.ReadDir", "os.(*Root).Open", "os.(*Root).OpenFile", "os.(*Root).ReadFile", "io/ioutil.ReadFile", "io/ioutil.ReadDir",
		"path/filepath.Walk", "path/filepath.WalkDir", "path/filepath.Glob", "io/fs.WalkDir", "io/fs.ReadFile", "io/fs.ReadDir"},
	sinks.Write:  {"os.WriteFile", "os.Create", "os.Mkdir", "os.MkdirAll", "os.Rename", "os.Symlink", "os.Link", "os.Chmod", "os.Chown", "os.Truncate", "os.CopyFS", "io/ioutil.WriteFile"},
	sinks.Delete: {"os.Remove", "os.RemoveAll"},
	sinks.Network: {"net.Dial", "net.DialTimeout", "net.DialTCP", "net.DialUDP", "net.DialUnix", "net.(*Dialer).Dial", "net.(*Dialer).DialContext", "net.LookupHost", "net.LookupIP", "net.LookupTXT", "net.LookupAddr",
		"net.(*Resolver).LookupHost", "net.(*Resolver).LookupIPAddr", "net.(*Resolver).LookupTXT", "net/http.Get", "net/http.Post", "net/http.PostForm", "net/http.Head",
		"net/http.(*Client).Get", "net/http.(*Client).Post", "net/http.(*Client).PostForm", "net/http.(*Client).Head", "net/http.(*Client).Do", "net/http.(*Client).do", "net/http.(*Transport).RoundTrip",
		"crypto/tls.Dial", "crypto/tls.DialWithDialer", "crypto/tls.(*Dialer).DialContext", "net/smtp.SendMail", "net/smtp.Dial", "net/rpc.Dial", "net/rpc.DialHTTP",
		"net/rpc.DialHTTPPath", "net/rpc/jsonrpc.Dial", "log/syslog.Dial", "net.ListenPacket", "net.ListenUDP", "golang.org/x/net/websocket.Dial", "golang.org/x/net/websocket.DialConfig",
		"syscall.Connect", "syscall.Sendto", "golang.org/x/sys/unix.Connect", "golang.org/x/sys/unix.Sendto"},
	sinks.Process:     {"os/exec.Command", "os/exec.CommandContext", "os/exec.(*Cmd).Start", "os/exec.(*Cmd).Run", "os/exec.(*Cmd).Output", "os/exec.(*Cmd).CombinedOutput", "os.StartProcess", "syscall.Exec", "syscall.ForkExec", "syscall.StartProcess"},
	sinks.Evaluate:    {"plugin.Open"},
	sinks.Decode:      {"encoding/base64.(*Encoding).DecodeString", "encoding/base64.(*Encoding).Decode", "encoding/hex.DecodeString", "encoding/hex.Decode", "compress/gzip.NewReader", "compress/zlib.NewReader", "compress/flate.NewReader", "crypto/aes.NewCipher", "crypto/rc4.NewCipher"},
	sinks.Environment: {"os.Getenv", "os.LookupEnv", "os.Environ", "syscall.Getenv"},
	sinks.Home:        {"os.UserHomeDir", "os.UserConfigDir", "os.UserCacheDir", "os/user.Current", "os/user.Lookup", "os/user.LookupId"},
})

func byKind(kinds map[sinks.Kind][]string) map[string][]sinks.Kind {
	out := map[string][]sinks.Kind{}
	for kind, names := range kinds {
		for _, n := range names {
			out[n] = append(out[n], kind)
		}
	}
	return out
}
