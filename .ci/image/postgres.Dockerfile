# The database of the tests of sweeps. The image's own cluster is not used.
ARG BASE=debian:bookworm-slim
FROM ${BASE}
RUN apt-get update -qq \
 && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends postgresql >/dev/null \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/lib/postgresql/* /etc/postgresql/* /var/log/apt /var/log/*.log
HEALTHCHECK NONE
