# shellcheck shell=sh
# Shared by the scripts beside it: sourced, never run.
set -eu

# shellcheck disable=SC2034  # the sourcing scripts use it
cache=${XDG_CACHE_HOME:-$HOME/.cache}/coalmine

say() { printf 'setup: %s\n' "$*"; }

die() {
	printf 'setup: error: %s\n' "$1" >&2
	[ $# -lt 2 ] || printf 'setup: hint: %s\n' "$2" >&2
	exit 1
}

have() { command -v "$1" >/dev/null 2>&1; }

# root runs a command as root, by sudo where we are not.
root() {
	if [ "$(id -u)" -eq 0 ]; then
		"$@"
	elif have sudo; then
		sudo "$@"
	else
		die "'$1' needs root" "run this as root, or install sudo"
	fi
}

# installed tells whether dpkg has all the packages given.
installed() {
	have dpkg-query || return 1
	for p in "$@"; do
		[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || return 1
	done
}

# packages installs those Debian packages that are missing.
packages() {
	missing=
	for p in "$@"; do
		installed "$p" || missing="$missing $p"
	done
	[ -n "$missing" ] || return 0
	have apt-get || die "missing:$missing" "this script knows only apt; install them by hand"
	say "installing$missing"
	# A list that apt already has may be enough; a fresh machine has none.
	# shellcheck disable=SC2086  # the list is split on purpose
	aptinstall $missing || {
		root apt-get update -qq || die "apt-get update failed"
		aptinstall $missing || die "apt could not install$missing"
	}
}

# aptinstall waits for another apt, such as a fresh machine's own upgrade.
aptinstall() {
	root env DEBIAN_FRONTEND=noninteractive \
		apt-get -o DPkg::Lock::Timeout=300 install -y -qq --no-install-recommends "$@" </dev/null >"${TMPDIR:-/tmp}/coalmine-apt.$$" 2>&1 && {
		rm -f "${TMPDIR:-/tmp}/coalmine-apt.$$"
		return 0
	}
	tail -n 5 "${TMPDIR:-/tmp}/coalmine-apt.$$" >&2
	rm -f "${TMPDIR:-/tmp}/coalmine-apt.$$"
	return 1
}

# seconds prints the time since the epoch, for the durations that are printed.
seconds() { date +%s; }
