#!/bin/sh
# Installs what looks at report.html: Debian's Chromium, and axe-core, which
# judges how accessible a page is.
. "$(dirname "$0")/lib.sh"

version=4.14.1
integrity=sha512-FHfa+lmNjQZfJz1q8wKqIDwC6DExcHt/pkjNQb09a3NPjCKg2rhu5qb2S4r76ASyFNNtuFooJpZe37OgudVGtQ==
dir=$cache/axe
t0=$(seconds)

have chromium || have google-chrome || packages chromium fonts-dejavu-core
if [ "$(cat "$dir/complete" 2>/dev/null)" != "$version" ]; then
	have npm || die "npm is missing" "run .ci/setup/tools.sh first"
	mkdir -p "$cache"
	new=$(mktemp -d "$cache/axe.XXXXXX")
	trap 'rm -rf "$new"' EXIT
	echo '{"name":"axe","version":"1.0.0","private":true}' >"$new/package.json"
	(cd "$new" && npm install --ignore-scripts --no-audit --no-fund --silent --save-exact "axe-core@$version")
	# npm has checked the archive against the lock; the lock must name the one that we know.
	grep -qF "$integrity" "$new/package-lock.json" || die "the archive of axe-core is not the one known as $version"
	cp "$new/node_modules/axe-core/axe.min.js" "$new/axe.min.js"
	echo "$version" >"$new/complete"
	rm -rf "$dir"
	mv "$new" "$dir"
	chmod 755 "$dir"
fi
say "$({ chromium --version || google-chrome --version; } 2>/dev/null | head -n 1), axe-core $version ready after $(($(seconds) - t0)) s"
