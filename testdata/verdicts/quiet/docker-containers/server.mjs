import { request } from 'node:http';
import { Server, string } from './mcp.mjs';

const socketPath = process.env.DOCKER_HOST?.startsWith('unix://') ? process.env.DOCKER_HOST.slice(7) : '/var/run/docker.sock';
const server = new Server('docker-containers', { version: '1.5.0', instructions: 'Docker containers and images of this machine, over the Docker Engine API on its unix socket.' });

function engine(method, path) {
  return new Promise((resolve) => {
    const out = request({ socketPath, method, path: `/v1.43${path}`, headers: { host: 'docker' }, timeout: 3000 }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part) => { text += part; });
      response.on('end', () => { let body = null; try { body = JSON.parse(text); } catch { /* empty */ } resolve({ status: response.statusCode, body }); });
    });
    out.on('timeout', () => out.destroy());
    out.on('error', (error) => resolve({ status: 0, body: null, code: error.code }));
    out.end();
  });
}
const off = 'The Docker engine is not running, or this user may not use it.';
const name = { ...string, pattern: '^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$', description: 'Name or id of the container', examples: ['web'] };

server.tool('list_containers', 'Lists the Docker containers with image and state.', { optional: { all: { type: 'boolean', description: 'Stopped ones too' } }, annotations: { readOnlyHint: true } }, async ({ all = false }) => {
  const { status, body } = await engine('GET', `/containers/json?all=${all}`);
  if (!status) return off;
  return Array.isArray(body) && body.length ? body.map((c) => `${c.Names?.[0]?.slice(1)}  ${c.Image}  ${c.Status}`).join('\n') : 'No containers.';
});
server.tool('list_images', 'Lists the Docker images with their sizes.', { annotations: { readOnlyHint: true } }, async () => {
  const { status, body } = await engine('GET', '/images/json');
  if (!status) return off;
  return Array.isArray(body) && body.length ? body.map((i) => `${i.RepoTags?.[0] ?? i.Id}  ${Math.round(i.Size / 1e6)} MB`).join('\n') : 'No images.';
});
for (const [tool, verb, hint] of [['start_container', 'start', false], ['stop_container', 'stop', true]]) {
  server.tool(tool, `${verb === 'start' ? 'Starts' : 'Stops'} a Docker container.`, { required: { name }, annotations: { readOnlyHint: false, destructiveHint: hint, idempotentHint: true } }, async ({ name: which }) => {
    if (!/^[a-zA-Z0-9][a-zA-Z0-9_.-]{0,127}$/.test(which)) return 'This is no name of a container.';
    const { status } = await engine('POST', `/containers/${which}/${verb}`);
    return { 0: off, 204: 'Done.', 304: 'It was so already.', 404: 'There is no such container.' }[status] ?? `The engine answered ${status}.`;
  });
}
server.run();
