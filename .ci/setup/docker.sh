#!/bin/sh
# Makes a Docker Engine answer: installs Debian's where there is none and
# starts it where it does not run. An engine that answers is left as it is.
# "docker.sh stop" ends the one that this script started, and no other.
. "$(dirname "$0")/lib.sh"

pidfile=$cache/dockerd.pid
log=$cache/dockerd.log

answers() { docker version --format '{{.Server.Version}}' 2>/dev/null | grep -q .; }

# ours prints the pid that we recorded, if that process is still the engine we started.
ours() {
	[ -r "$pidfile" ] || return 1
	read -r pid started <"$pidfile" || return 1
	[ "$(starttime "$pid")" = "$started" ] || return 1
	echo "$pid"
}

# starttime prints when a process began, which a reused pid does not share.
# The command's name, in parentheses, may hold spaces.
starttime() { sed 's/.*) //' "/proc/$1/stat" 2>/dev/null | cut -d ' ' -f 20; }

stop() {
	if ! pid=$(ours); then
		say "no engine of ours is running"
		return 0
	fi
	root kill "$pid"
	while [ -n "$(starttime "$pid")" ]; do sleep 0.2; done
	rm -f "$pidfile"
	say "stopped dockerd $pid"
}

start() {
	mkdir -p "$cache"
	# dockerd needs iptables for its bridge, even though no container of ours uses it.
	packages docker.io iptables ca-certificates
	# A package's own service manager may have started it just now.
	waitfor 3 && return 0
	have dockerd || die "dockerd is not installed" "install Docker Engine"
	# setsid: an interrupted make must not take the engine with it.
	# shellcheck disable=SC2016  # expanded by the inner shell
	root sh -c 'setsid dockerd >"$1" 2>&1 </dev/null & echo $!' sh "$log" >"$pidfile.new"
	# setsid execs in place, so its pid is dockerd's.
	read -r pid <"$pidfile.new"
	echo "$pid $(starttime "$pid")" >"$pidfile"
	rm -f "$pidfile.new"
	say "started dockerd $pid, log in $log"
	waitfor 30 || {
		tail -n 5 "$log" >&2
		die "dockerd does not answer" "read $log"
	}
}

waitfor() {
	n=$(($1 * 5))
	while [ "$n" -gt 0 ]; do
		answers && return 0
		sleep 0.2
		n=$((n - 1))
	done
	return 1
}

case ${1:-start} in
start)
	t0=$(seconds)
	if have docker && answers; then
		say "Docker Engine $(docker version --format '{{.Server.Version}}') answers"
	elif [ -n "${DOCKER_HOST:-}" ]; then
		die "no engine answers at DOCKER_HOST=$DOCKER_HOST" "unset DOCKER_HOST to start one here"
	else
		start
		say "Docker Engine $(docker version --format '{{.Server.Version}}') answers after $(($(seconds) - t0)) s"
	fi
	;;
stop) stop ;;
*) die "unknown argument '$1'" "use start or stop" ;;
esac
