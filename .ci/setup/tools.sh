#!/bin/sh
# Installs what the checks run besides Go: strace, Python with venv, Node with npm, git.
# Whatever is on the PATH already is left alone.
. "$(dirname "$0")/lib.sh"

t0=$(seconds)
have strace || packages strace
have git || packages git
have python3 || packages python3
# ensurepip is what Debian splits off; a Python from elsewhere has its own.
python3 -c 'import ensurepip, venv' 2>/dev/null || packages python3-venv
if ! have node || ! have npm; then
	packages nodejs npm
fi
say "strace $(strace -V | sed -n '1s/.*version //p'), $(python3 -V 2>&1), node $(node -v), npm $(npm -v)"
say "tools ready after $(($(seconds) - t0)) s"
