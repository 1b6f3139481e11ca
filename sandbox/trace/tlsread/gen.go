package tlsread

//go:generate go run github.com/cilium/ebpf/cmd/bpf2go@v0.22.0 -cc clang-16 -strip llvm-strip-16 -target amd64,arm64 -no-global-types program tls.bpf.c -- -O2 -g -Wall -Werror -I/usr/include/x86_64-linux-gnu
