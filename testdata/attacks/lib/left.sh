# Publishes left 1.0.0, an honest package, in both registries.
set -e
mkdir -p "$WORK/left" && cd "$WORK/left"
echo '{"name":"left","version":"1.0.0","bin":"i.js"}' > package.json
printf '#!/usr/bin/env node\n' > i.js
python3 "$LIB/publish.py" npm left 1.0.0 .
echo 'def main(): pass' > left.py
python3 "$LIB/wheel.py" left 1.0 left:main left.py=left.py
