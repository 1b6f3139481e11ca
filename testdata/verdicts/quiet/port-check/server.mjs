// Which development servers run on this machine? Looks at ports of 127.0.0.1 only.
import net from 'node:net';
import { Server } from './mcp.mjs';

const usual = new Map([[3000, 'Next.js, Express, Rails'], [4200, 'Angular'], [5173, 'Vite'], [5432, 'PostgreSQL'], [6379, 'Redis'], [8000, 'Django'], [8080, 'many'], [9200, 'Elasticsearch'], [27017, 'MongoDB']]);

function listens(port, timeout = 400) {
  return new Promise((resolve) => {
    const socket = net.connect({ host: '127.0.0.1', port });
    const end = (answer) => { socket.destroy(); resolve(answer); };
    socket.setTimeout(timeout, () => end(false));
    socket.once('connect', () => end(true)).once('error', () => end(false));
  });
}

function freePort() {
  return new Promise((resolve, reject) => {
    const probe = net.createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => { const { port } = probe.address(); probe.close(() => resolve(port)); });
  });
}

const loopback = { readOnlyHint: true, openWorldHint: false };
const port = { type: 'integer', minimum: 1, maximum: 65535 };
const valid = (n) => Number.isInteger(n) && n > 0 && n < 65536;
const server = new Server('port-check', { version: '1.1.0', instructions: 'Only the loopback address is looked at; other machines never are.' });

server.tool('check_port', 'Says whether something listens on a port of 127.0.0.1. The connection is closed at once.', { required: { port }, annotations: loopback },
  async ({ port: n }) => (valid(n) ? `${n}: ${(await listens(n)) ? 'in use' : 'free'}` : 'Ports lie between 1 and 65535.'));

server.tool('dev_servers', 'Looks which of the usual development ports of 127.0.0.1 are in use.', { annotations: loopback }, async () => {
  const ports = [...usual.keys()];
  const open = await Promise.all(ports.map((n) => listens(n)));
  return ports.filter((_, i) => open[i]).map((n) => `${n}: perhaps ${usual.get(n)}`).join('\n') || 'None of the usual ports is in use.';
});

server.tool('find_free_port', 'Finds a free port on 127.0.0.1 by listening on it for a moment.', { annotations: loopback }, async () => String(await freePort()));

server.tool('wait_for_port', 'Waits up to five seconds until something listens on a port of 127.0.0.1.', {
  required: { port }, optional: { seconds: { type: 'number', minimum: 0.1, maximum: 5 } }, annotations: loopback,
}, async ({ port: n, seconds = 2 }) => {
  if (!valid(n)) return 'Ports lie between 1 and 65535.';
  const until = Date.now() + Math.min(Math.max(seconds, 0.1), 5) * 1000;
  while (Date.now() < until) {
    if (await listens(n, 200)) return `${n} is up.`;
    await new Promise((done) => setTimeout(done, 150));
  }
  return `${n} is still closed.`;
});

server.run();
