#!/bin/sh
# Installs zizmor, which audits workflows and actions, below $1. Its wheel is one
# program and depends on nothing.
. "$(dirname "$0")/lib.sh"

version=1.32.0
sum=84a6acb975accc13408786a2bd274b572537ca19c933ebbc13e78f3988562071 # of the wheel for Linux on amd64
dir=${1:?where to}
t0=$(seconds)

case $(uname -m) in
x86_64) ;;
*) die "the wheel of zizmor for $(uname -m) is not known here" "add its checksum to $0" ;;
esac
if [ ! -x "$dir/bin/zizmor" ]; then
	python3 -c 'import ensurepip, venv' 2>/dev/null || packages python3 python3-venv
	mkdir -p "$(dirname "$dir")"
	new=$(mktemp -d "$dir.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	python3 -m venv "$new/venv"
	echo "zizmor==$version --hash=sha256:$sum" >"$new/wanted.txt"
	"$new/venv/bin/pip" install --quiet --no-deps --only-binary :all: --require-hashes --disable-pip-version-check --target "$new/tree" -r "$new/wanted.txt"
	rm -rf "$dir"
	mv "$new/tree" "$dir"
	chmod 755 "$dir"
fi
say "zizmor $version ready in $dir after $(($(seconds) - t0)) s"
