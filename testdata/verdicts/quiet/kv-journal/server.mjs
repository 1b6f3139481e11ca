#!/usr/bin/env node
// kv-journal — a tiny key-value database: an append-only journal, replayed at start, compacted when it has grown.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';

const dir = path.join(process.env.XDG_DATA_HOME || path.join(os.homedir(), '.local', 'share'), 'kv-journal');
const journal = path.join(dir, 'journal.jsonl');
const state = new Map();
let fd = null;
let entries = 0;

function open() {
  if (fd !== null) return;
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  if (fs.existsSync(journal)) {
    for (const line of fs.readFileSync(journal, 'utf8').split('\n')) {
      if (!line) continue;
      try {
        const [op, key, value] = JSON.parse(line);
        if (op === 'put') state.set(key, value); else state.delete(key);
        entries++;
      } catch { /* a torn last line after a crash: the write was never acknowledged */ }
    }
  }
  fd = fs.openSync(journal, 'a', 0o600);
}

function append(record) {
  fs.writeSync(fd, JSON.stringify(record) + '\n');
  fs.fsyncSync(fd);
  if (++entries > 100 && entries > 3 * state.size) compact();
}

function compact() {
  const fresh = `${journal}.${process.pid}.tmp`;
  const lines = [...state].map(([key, value]) => JSON.stringify(['put', key, value]) + '\n');
  fs.writeFileSync(fresh, lines.join(''), { mode: 0o600 });
  fs.closeSync(fd);
  fs.renameSync(fresh, journal);
  fd = fs.openSync(journal, 'a', 0o600);
  entries = lines.length;
}

const where = 'The store is ~/.local/share/kv-journal/journal.jsonl, made on first use.';
const key = { type: 'string', minLength: 1, maxLength: 200 };
const tools = {
  kv_put: {
    description: `Sets a key to a text. ${where}`,
    inputSchema: { type: 'object', properties: { key, value: { type: 'string' } }, required: ['key', 'value'] },
    annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
    run: ({ key, value }) => { state.set(key, value); append(['put', key, value]); return 'ok'; },
  },
  kv_get: {
    description: `Returns the text under a key. ${where}`,
    inputSchema: { type: 'object', properties: { key }, required: ['key'] },
    annotations: { destructiveHint: false, openWorldHint: false },
    run: ({ key }) => state.get(key) ?? '(nothing under this key)',
  },
  kv_delete: {
    description: 'Forgets a key. Old values stay in the journal until kv_compact or until it has grown enough to be compacted by itself.',
    inputSchema: { type: 'object', properties: { key }, required: ['key'] },
    annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
    run: ({ key }) => { if (!state.delete(key)) return 'was not there'; append(['del', key]); return 'deleted'; },
  },
  kv_compact: {
    description: 'Rewrites the journal so that it holds only what is current (written beside, then renamed).',
    inputSchema: { type: 'object', properties: {} },
    annotations: { destructiveHint: true, idempotentHint: true, openWorldHint: false },
    run: () => { compact(); return `${state.size} keys, ${fs.statSync(journal).size} bytes`; },
  },
};

function handle({ method, params = {} }) {
  if (method === 'initialize') return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'kv-journal', version: '0.9.1' } };
  if (method === 'ping') return {};
  if (method === 'tools/list') return { tools: Object.entries(tools).map(([name, { run, ...rest }]) => ({ name, ...rest })) };
  if (method === 'tools/call' && Object.hasOwn(tools, params.name)) {
    const tool = tools[params.name];
    const args = params.arguments ?? {};
    for (const name of tool.inputSchema.required ?? []) {
      if (typeof args[name] !== 'string') return { isError: true, content: [{ type: 'text', text: `${name} must be a text` }] };
    }
    if (typeof args.key === 'string' && (args.key === '' || args.key.length > 200)) return { isError: true, content: [{ type: 'text', text: 'a key has 1 to 200 characters' }] };
    open();
    return { content: [{ type: 'text', text: tool.run(args) }] };
  }
  throw Object.assign(new Error(`cannot ${method}`), { code: -32601 });
}

readline.createInterface({ input: process.stdin }).on('line', (line) => {
  let request;
  try { request = JSON.parse(line); } catch { return; }
  if (request?.id === undefined || !request.method) return;
  let reply;
  try { reply = { result: handle(request) }; } catch (e) { reply = { error: { code: e.code === -32601 ? -32601 : -32603, message: e.message } }; }
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: request.id, ...reply }) + '\n');
}).on('close', () => { if (fd !== null) fs.closeSync(fd); });
