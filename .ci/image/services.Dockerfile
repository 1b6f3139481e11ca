# The services that coalmine runs beside servers in the docker sandbox (make service-image).
ARG BASE=coalmine
FROM ${BASE}
# In runlevel 1 Debian's scripts start nothing. The cluster that PostgreSQL's package makes is not used.
RUN apt-get update -qq \
 && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql mariadb-server-core redis-server >/dev/null \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/lib/postgresql/* /etc/postgresql/* /var/log/apt /var/log/*.log
HEALTHCHECK NONE
