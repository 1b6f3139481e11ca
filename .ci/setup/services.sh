#!/bin/sh
# Installs the services that make service-report and its tests start in sandboxes: PostgreSQL, MariaDB
# and Redis. None of them is started here.
. "$(dirname "$0")/lib.sh"

have initdb || [ -n "$(ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null)" ] || packages postgresql
have mariadbd || [ -x /usr/sbin/mariadbd ] || packages mariadb-server-core
# In runlevel 1 Debian's script starts nothing.
have redis-server || RUNLEVEL=1 packages redis-server
say "services ready"
