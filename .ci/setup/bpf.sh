#!/bin/sh
# Says whether this machine's kernel lets this user watch it with eBPF programs: "yes", "no" or
# "unknown", and why on stderr. It asks the kernel and none of coalmine's own programs: where the
# answer is yes and those do not load, the tests fail.
. "$(dirname "$0")/lib.sh"

answer() {
	say "eBPF: $1: $2" >&2
	echo "$1"
	exit 0
}

case $(uname -m) in
x86_64) bpf=321 ;;
aarch64) bpf=280 ;;
*) answer no "$(uname -m) is not supported" ;;
esac
[ -r /sys/kernel/btf/vmlinux ] || answer no "the kernel describes none of its structures (no BTF)"
effective=$(awk '/^CapEff:/ { print $2 }' /proc/self/status 2>/dev/null)
[ -n "$effective" ] || answer unknown "this process's capabilities cannot be read"
# CAP_PERFMON is 38, CAP_BPF 39.
[ $((0x$effective >> 38 & 3)) -eq 3 ] || answer no "CAP_BPF and CAP_PERFMON are missing"
have perl || answer unknown "there is no perl to ask the kernel with"
# A map of one element is made, and gone with its process.
failed=$(perl -e '
	my $map = pack("L4", 2, 4, 8, 1) . "\0" x 104;
	print syscall(shift, 0, $map, length $map) < 0 ? $!+0 : 0;' "$bpf" 2>/dev/null) || answer unknown "perl cannot ask the kernel"
case $failed in
0) answer yes "the kernel makes a map" ;;
1 | 13 | 38) answer no "the kernel refuses a map (errno $failed)" ;;
*) answer unknown "the kernel makes no map (errno $failed)" ;;
esac
