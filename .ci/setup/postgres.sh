#!/bin/sh
# Installs PostgreSQL's programs, which tests of sweeps start in a directory of their own.
. "$(dirname "$0")/lib.sh"

have initdb || [ -n "$(ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null)" ] || packages postgresql
say "PostgreSQL ready"
