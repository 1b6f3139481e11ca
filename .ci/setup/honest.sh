#!/bin/sh
# Installs the servers of the honest report, without running anything of theirs:
# npm without scripts, Go by its own tool, PyPI wheels only, and the examples of the
# Python SDK's source distribution. Each has a directory that its name and version
# name.
. "$(dirname "$0")/lib.sh"

dir=$cache/honest
here=$(cd "$(dirname "$0")/../.." && pwd)
own=$here/cmd/internal/probe/probetest/servers/testdata/honest.json
t0=$(seconds)

have chromium || packages chromium

# specs prints the names and versions of one kind that the list asks for.
specs() {
	node -e '
const [kind, own] = process.argv.slice(1);
const list = JSON.parse(require("fs").readFileSync(own));
console.log([...new Set(list.servers.map((s) => s[kind]).filter(Boolean))].join("\n"))' "$1" "$own"
}

for spec in $(specs npm); do
	at=$dir/npm/$spec
	[ ! -e "$at/complete" ] || continue
	rm -rf "$at"
	mkdir -p "$at"
	echo '{"name":"server","version":"1.0.0","private":true}' >"$at/package.json"
	(cd "$at" && npm install --ignore-scripts --no-audit --no-fund --silent "$spec") || die "npm has no $spec for this machine"
	touch "$at/complete"
done
for spec in $(specs go); do
	at=$dir/go/$spec
	[ ! -e "$at/complete" ] || continue
	mkdir -p "$at"
	GOBIN=$at CGO_ENABLED=0 go install "$spec" || die "go could not install $spec"
	touch "$at/complete"
done
for spec in $(specs pysdk); do
	at=$dir/pysdk/$spec
	[ ! -e "$at/complete" ] || continue
	rm -rf "$at"
	mkdir -p "$at/sdist"
	/usr/bin/python3 -m venv "$at/venv"
	"$at/venv/bin/pip" install --quiet --only-binary :all: --disable-pip-version-check "$spec"
	plain=${spec%%\[*}
	"$at/venv/bin/pip" download --quiet --no-deps --no-binary "$plain" --disable-pip-version-check -d "$at/sdist" "$plain==${spec##*==}"
	tar -xzf "$at"/sdist/*.tar.gz -C "$at" --strip-components=1 --wildcards '*/examples/*'
	touch "$at/complete"
done
say "honest servers ready in $dir after $(($(seconds) - t0)) s"
