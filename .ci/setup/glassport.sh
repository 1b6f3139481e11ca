#!/bin/sh
# Installs glassport, the peer that the wire's detectors are held against, and
# keeps the session logs that its own tests analyse with what it says of them.
# Content-addressed by the versions and by what makes the logs.
. "$(dirname "$0")/lib.sh"

version=0.8.0
sum=7b188e41e59f34c91d6da7068242149157a5be908196f556a92fc90417f40332
pytest=8.4.2
capture=$(dirname "$0")/../../testdata/peers/glassport/capture.py
key=$(printf '%s' "$version $sum $pytest $(sha256sum <"$capture")" | sha256sum | cut -c 1-16)
dir=$cache/glassport/$key
t0=$(seconds)

if [ ! -e "$dir/complete" ]; then
	rm -rf "$dir"
	mkdir -p "$dir"
	python=/usr/bin/python3
	[ -x "$python" ] && "$python" -c 'import ensurepip, venv' 2>/dev/null || packages python3 python3-venv
	"$python" -m venv "$dir/py"
	"$dir/py/bin/pip" install --quiet --only-binary :all: --disable-pip-version-check "glassport==$version" "pytest==$pytest"
	"$dir/py/bin/pip" download --quiet --no-deps --no-binary :all: --disable-pip-version-check -d "$dir" "glassport==$version"
	echo "$sum  $dir/glassport-$version.tar.gz" | sha256sum -c --quiet - || die "glassport's source is not the one known as $version"
	tar -xzf "$dir/glassport-$version.tar.gz" -C "$dir" "glassport-$version/tests"
	HOME=$dir/home "$dir/py/bin/python" "$capture" "$dir/glassport-$version/tests" "$dir/logs.jsonl" >"$dir/capture.log" 2>&1 || {
		tail -n 5 "$dir/capture.log" >&2
		die "glassport's own logs could not be taken" "read $dir/capture.log"
	}
	[ -s "$dir/logs.jsonl" ] || die "glassport's tests read no log" "read $dir/capture.log"
	touch "$dir/complete"
fi
ln -sfn "$dir" "$cache/glassport/current"
say "glassport $version and $(wc -l <"$dir/logs.jsonl") of its logs ready in $dir after $(($(seconds) - t0)) s"
