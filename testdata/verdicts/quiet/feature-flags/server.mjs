#!/usr/bin/env node
// feature-flags: flags for a test run, in memory. `shutdown` really ends the process: test runners call it when they are done.
import { once } from 'node:events';

const flags = new Map([['new-checkout', { on: false, percent: 0 }], ['dark-mode', { on: true, percent: 100 }]]);
const started = Date.now();

function bucket(user) {
  let hash = 2166136261;
  for (const c of user) hash = Math.imul(hash ^ c.codePointAt(0), 16777619) >>> 0;
  return hash % 100;
}

const flag = { type: 'string', minLength: 1, maxLength: 80 };
const LOCAL = { openWorldHint: false };
const tools = [
  { name: 'set_flag', description: 'Switches a flag on or off, perhaps for a part of the users only. Kept in memory until the server ends.',
    inputSchema: { type: 'object', properties: { flag, on: { type: 'boolean' }, percent: { type: 'integer', minimum: 0, maximum: 100 } }, required: ['flag', 'on'] },
    annotations: { ...LOCAL, destructiveHint: true, idempotentHint: true } },
  { name: 'is_on', description: 'Says whether a flag is on for a user.',
    inputSchema: { type: 'object', properties: { flag, user: { type: 'string' } }, required: ['flag'] },
    annotations: { ...LOCAL, readOnlyHint: true } },
  { name: 'server_status', description: 'Lists the flags and says how long the server has been running.', inputSchema: { type: 'object', properties: {} }, annotations: { ...LOCAL, readOnlyHint: true } },
  { name: 'shutdown', description: 'Ends this server. All flags are lost; the client has to start it again.', inputSchema: { type: 'object', properties: {} }, annotations: { ...LOCAL, destructiveHint: true } },
];

const run = {
  set_flag({ flag: name, on, percent = 100 }) {
    if (typeof name !== 'string' || !name || name.length > 80 || typeof on !== 'boolean') return 'A flag has a name of up to 80 characters and is on or off.';
    if (flags.size >= 500 && !flags.has(name)) return 'Too many flags.';
    flags.set(name, { on, percent: Math.min(Math.max(Number(percent) || 0, 0), 100) });
    return `${name} is ${on ? `on for ${flags.get(name).percent}%` : 'off'}.`;
  },
  is_on({ flag: name, user = '' }) {
    const f = flags.get(name);
    if (!f) return 'unknown flag, so: off';
    return f.on && (f.percent === 100 || bucket(String(user)) < f.percent) ? 'on' : 'off';
  },
  server_status: () => JSON.stringify({ pid: process.pid, seconds: Math.round((Date.now() - started) / 1000), flags: [...flags.keys()] }),
  shutdown: () => 'Goodbye.',
};

async function write(message) {
  if (!process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n')) await once(process.stdout, 'drain');
}

async function answer({ id, method, params = {} }) {
  if (id === undefined) return;
  if (method === 'initialize') await write({ id, result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'feature-flags', version: '0.2.0' } } });
  else if (method === 'ping') await write({ id, result: {} });
  else if (method === 'tools/list') await write({ id, result: { tools } });
  else if (method === 'tools/call' && tools.some((t) => t.name === params.name)) {
    await write({ id, result: { content: [{ type: 'text', text: run[params.name](params.arguments ?? {}) }] } });
    if (params.name === 'shutdown') setTimeout(() => process.exit(0), 50);
  } else await write({ id, error: { code: -32601, message: 'not found' } });
}

for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(0));
let rest = '';
for await (const chunk of process.stdin.setEncoding('utf8')) {
  rest += chunk;
  for (let at; (at = rest.indexOf('\n')) >= 0; rest = rest.slice(at + 1)) {
    let message = null;
    try { message = JSON.parse(rest.slice(0, at)); } catch { continue; }
    if (message && typeof message === 'object') await answer(message);
  }
}
