#!/bin/sh
# Installs gVisor's runtime from Debian, for an engine of the test's own.
. "$(dirname "$0")/lib.sh"
packages runsc
say "runsc: $(runsc --version | head -n 1)"
