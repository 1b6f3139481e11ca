#!/usr/bin/env node
// hook-inbox: see what a program sends as a webhook, without a service on the internet.
// The inbox listens on 127.0.0.1 only, from open_inbox (or the first send_test) until close_inbox or the end of the server.
// With HOOK_INBOX_SECRET set, X-Hub-Signature-256 is checked as GitHub makes it; the secret stays in this process.
import { request } from 'node:http';
import { Server } from './mcp.mjs';
import { HOST, Inbox, sign } from './inbox.mjs';

const inbox = new Inbox(process.env.HOOK_INBOX_SECRET || '');
const server = new Server('hook-inbox', { version: '1.1.0', instructions: 'Listens on 127.0.0.1 after open_inbox or send_test. Webhooks are kept in memory, the last hundred.' });
const read = { readOnlyHint: true, openWorldHint: false };
const change = { readOnlyHint: false, destructiveHint: false, openWorldHint: false };

server.tool('open_inbox', 'Opens the inbox: an HTTP listener on 127.0.0.1 that takes POST requests and keeps the last hundred in memory. Returns its address.',
  { optional: { port: { type: 'integer', minimum: 0, maximum: 65535, default: 0, description: '0 for any free port, or from 1024' } }, annotations: change }, async ({ port = 0 }) => {
    if (port !== 0 && (port < 1024 || port > 65535)) throw new RangeError('port is 0 or from 1024 to 65535');
    if (inbox.port) return `The inbox is open already: http://${HOST}:${inbox.port}/`;
    return `The inbox is open: http://${HOST}:${await inbox.open(port)}/`;
  });

server.tool('list_hooks', 'Lists the webhooks that were received: number, time, path, size and whether the signature is valid.',
  { optional: { path: { type: 'string', description: 'Only those whose path starts so', examples: ['/'] } }, annotations: read }, ({ path = '/' }) => {
    const list = inbox.hooks.filter((hook) => hook.path.startsWith(path)).map(({ id, time, path: where, signature, body }) => ({ id, time, path: where, signature, characters: body.length }));
    return list.length ? list : 'No webhook was received.';
  });

server.tool('show_hook', 'Shows one received webhook with headers and body. Authorization, cookies, tokens and signatures in its headers are hidden.',
  { required: { id: { type: 'integer', minimum: 1, examples: [1] } }, annotations: read }, ({ id }) => {
    const hook = inbox.hooks.find((each) => each.id === id);
    if (!hook) throw new Error(`there is no webhook ${id}`);
    let body = hook.body;
    try { body = JSON.parse(hook.body); } catch { /* shown as text */ }
    return { ...hook, body };
  });

server.tool('send_test', 'Posts a test webhook to the inbox of this server on 127.0.0.1, signed if HOOK_INBOX_SECRET is set, and opens the inbox if need be.',
  { required: { event: { type: 'string', pattern: '^[a-z_]{1,40}$', examples: ['push', 'ping'] } }, optional: { payload: { type: 'object', description: 'Sent as JSON', examples: [{ ref: 'refs/heads/main' }] } }, annotations: change }, async ({ event, payload = {} }) => {
    if (!/^[a-z_]{1,40}$/.test(event)) throw new Error('an event has small letters and underscores');
    const body = JSON.stringify(payload);
    if (body.length > 100_000) throw new Error('the payload is too long');
    const port = inbox.port ?? await inbox.open(0);
    const headers = { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body), 'User-Agent': 'hook-inbox-test', 'X-Event': event };
    if (inbox.secret) headers['X-Hub-Signature-256'] = sign(inbox.secret, body);
    const status = await new Promise((resolve, reject) => {
      const sent = request({ host: HOST, port, path: `/test/${event}`, method: 'POST', headers, timeout: 5000 }, (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sent.on('timeout', () => sent.destroy(new Error('the inbox did not answer')));
      sent.on('error', reject);
      sent.end(body);
    });
    return { status, id: inbox.hooks.at(-1)?.id };
  });

server.tool('clear_hooks', 'Forgets the webhooks that were received.', { annotations: { ...change, destructiveHint: true, idempotentHint: true } }, () => `Forgot ${inbox.hooks.splice(0).length} webhooks.`);

server.tool('close_inbox', 'Stops listening. Received webhooks stay until the server ends.', { annotations: { ...change, idempotentHint: true } }, async () => ((await inbox.close()) ? 'The inbox is closed.' : 'The inbox was not open.'));

server.ended = () => inbox.close();
server.run();
