import { createServer, request } from 'node:http';
import { Server, string } from './mcp.mjs';

const PORT = 8799;
const caught = [];
let listener = null;
const server = new Server('hook-catcher', { version: '1.0.2', instructions: `Catches webhooks on http://127.0.0.1:${PORT}/ between start_catching and stop_catching. Nothing is kept on disk.` });

server.tool('start_catching', `Listens for webhooks on port ${PORT} of 127.0.0.1.`, { annotations: { readOnlyHint: false, idempotentHint: true, openWorldHint: false } }, () => new Promise((resolve) => {
  if (listener) return resolve('Catching already.');
  listener = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part) => { if (body.length < 65536) body += part; });
    request.on('end', () => {
      caught.push({ at: new Date().toISOString(), method: request.method, path: request.url, type: request.headers['content-type'] ?? '', body: body.slice(0, 2000) });
      caught.splice(0, Math.max(0, caught.length - 20));
      response.writeHead(204).end();
    });
  });
  listener.once('error', (error) => { listener = null; resolve(`Port ${PORT} can not be used: ${error.code}`); });
  listener.listen(PORT, '127.0.0.1', () => { listener.unref(); resolve(`Catching on http://127.0.0.1:${PORT}/`); });
}));

server.tool('stop_catching', 'Stops listening for webhooks.', { annotations: { readOnlyHint: false, idempotentHint: true, openWorldHint: false } }, () => {
  listener?.close();
  listener = null;
  return 'Not catching.';
});

server.tool('caught_hooks', 'Shows the webhooks that were caught, newest last.', { annotations: { readOnlyHint: true, openWorldHint: false } },
  () => caught.map((h) => `${h.at} ${h.method} ${h.path} ${h.type}\n${h.body}`).join('\n\n') || 'Nothing was caught.');

server.tool('try_hook', `Sends a JSON event to the own catcher on 127.0.0.1:${PORT}, to see that it works.`, {
  required: { event: { ...string, default: 'push' } }, annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
}, ({ event }) => new Promise((resolve) => {
  if (!listener) return resolve('Not catching: call start_catching first.');
  const out = request({ host: '127.0.0.1', port: PORT, path: '/try', method: 'POST', headers: { 'content-type': 'application/json' }, timeout: 1000 }, (r) => { r.resume(); resolve(`Answered ${r.statusCode}.`); });
  out.on('error', (error) => resolve(`Not sent: ${error.code}`));
  out.end(JSON.stringify({ event }));
}));

server.ended = () => listener?.close();
server.run();
