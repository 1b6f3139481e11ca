#!/bin/sh
# Installs services that tests start in sandboxes: all of PostgreSQL, MariaDB and Redis, or those that
# are named. None of them is started here.
. "$(dirname "$0")/lib.sh"

for service in ${*:-postgres mariadb redis}; do
	case $service in
	postgres) have initdb || [ -n "$(ls /usr/lib/postgresql/*/bin/initdb 2>/dev/null)" ] || packages postgresql ;;
	mariadb) have mariadbd || [ -x /usr/sbin/mariadbd ] || packages mariadb-server-core ;;
	# In runlevel 1 Debian's script starts nothing.
	redis) have redis-server || RUNLEVEL=1 packages redis-server ;;
	esac
done
say "services ready"
