#!/bin/sh
# Makes the base images that the Dockerfile and the tests name:
#   debian:bookworm-slim   pulled by digest, or made by debootstrap where no registry answers
#   coalmine-test/musl     busybox on musl libc: an image with no glibc, no shell of Debian's
# An image that is there already is left as it is. Tarballs are kept by the
# hash of what makes them, so a second machine state costs one import.
. "$(dirname "$0")/lib.sh"

suite=bookworm
# Where this machine's own apt takes a suite from; debootstrap knows a default.
# shellcheck disable=SC2016  # apt expands it
source_of() { apt-get indextargets --format '$(REPO_URI) $(RELEASE)' 'Created-By: Packages' 2>/dev/null | awk -v s="$1" '$2 == s { print $1; exit }'; }
mirror=${DEBIAN_MIRROR:-$(source_of $suite)}
security=${DEBIAN_SECURITY_MIRROR:-$(source_of $suite-security)}
debian=debian:$suite-slim
# The Dockerfile's digest says which image of that tag.
digest=$(sed -n 's/^ARG BASE=.*@\(sha256:[0-9a-f]*\)$/\1/p' "$(dirname "$0")/../../Dockerfile")
musl=coalmine-test/musl

present() { docker image inspect "$1" >/dev/null 2>&1; }

# kept names the tarball for $1: any change of this script makes a new one.
kept() { echo "$cache/images/$1-$(cat "$0" "$(dirname "$0")/lib.sh" | sha256sum | cut -c 1-16).tar"; }

# load imports tarball $1 as image $2; a shell becomes its command, if it has one.
load() {
	t=$(seconds)
	docker import --change 'CMD ["/bin/sh"]' "$1" "$2" >/dev/null
	say "imported $2 in $(($(seconds) - t)) s"
}

make_debian() {
	packages debootstrap
	tree=$work/debian
	t=$(seconds)
	say "bootstrapping Debian $suite"
	root debootstrap --variant=minbase "$suite" "$tree" ${mirror:+"$mirror"} >"$work/log" 2>&1 || {
		tail -n 5 "$work/log" >&2
		die "debootstrap failed"
	}
	# What Debian's own slim images leave out, and will go on leaving out.
	# shellcheck disable=SC2016  # expanded by the inner shell
	root sh -eu -c '
		cd "$1"
		# debootstrap has written the line of the suite itself.
		if [ -n "$2" ]; then echo "deb $2 $4-updates main" >>etc/apt/sources.list; fi
		if [ -n "$3" ]; then echo "deb $3 $4-security main" >>etc/apt/sources.list; fi
		for d in doc man info locale groff linda lintian; do
			echo "path-exclude=/usr/share/$d/*"
		done >etc/dpkg/dpkg.cfg.d/slim
		echo "path-include=/usr/share/doc/*/copyright" >>etc/dpkg/dpkg.cfg.d/slim
		find usr/share/doc -type f ! -name copyright -delete
		find usr/share/doc -type l -delete
		rm -rf usr/share/man/* usr/share/info/* usr/share/locale/* var/cache/apt/* var/lib/apt/lists/* var/log/*.log var/log/apt
		mkdir -p usr/share/man/man1 var/cache/apt/archives/partial var/lib/apt/lists/partial
		: >etc/resolv.conf
		: >etc/hostname
	' sh "$tree" "$mirror" "$security" "$suite"
	pack "$tree" "$1"
	say "made $(basename "$1") in $(($(seconds) - t)) s"
}

make_musl() {
	tree=$work/musl
	mkdir -p "$work/debs" "$tree"
	(
		cd "$work/debs"
		# Outside of apt's own directories its sandbox user may not write.
		apt-get download -qq -o APT::Sandbox::User=root busybox-static musl 2>"$work/log" || {
			root apt-get update -qq
			apt-get download -qq -o APT::Sandbox::User=root busybox-static musl
		}
		for d in *.deb; do dpkg-deb -x "$d" "$tree"; done
	)
	rm -rf "${tree:?}/usr"
	mkdir -p "$tree/etc" "$tree/tmp" "$tree/proc" "$tree/sys" "$tree/dev" "$tree/root" "$tree/usr/bin"
	chmod 1777 "$tree/tmp"
	echo 'root:x:0:0:root:/root:/bin/sh' >"$tree/etc/passwd"
	echo 'root:x:0:' >"$tree/etc/group"
	for a in $("$tree/bin/busybox" --list); do
		[ -e "$tree/bin/$a" ] || ln -s busybox "$tree/bin/$a"
	done
	pack "$tree" "$1"
	say "made $(basename "$1")"
}

# pack writes tree $1 as tarball $2, whole or not at all.
pack() {
	root tar -C "$1" --numeric-owner --one-file-system --exclude=./dev/* -cf "$2.$$" .
	root chown "$(id -u):$(id -g)" "$2.$$"
	mv "$2.$$" "$2"
}

have docker || die "docker is not installed" "run $(dirname "$0")/docker.sh first"
mkdir -p "$cache/images"
work=$(mktemp -d "${TMPDIR:-/tmp}/coalmine-images.XXXXXX")
trap 'root rm -rf "$work"' EXIT
trap 'exit 130' INT TERM

if present "$debian"; then
	say "$debian is there"
elif timeout "${COALMINE_PULL_TIMEOUT:-20}" docker pull -q "$debian@${digest:?}" >/dev/null 2>&1; then
	docker tag "$debian@$digest" "$debian"
	say "pulled $debian@$digest"
else
	tarball=$(kept debian)
	[ -s "$tarball" ] || make_debian "$tarball"
	load "$tarball" "$debian"
fi

if present "$musl"; then
	say "$musl is there"
else
	tarball=$(kept musl)
	[ -s "$tarball" ] || make_musl "$tarball"
	load "$tarball" "$musl"
fi
