#!/usr/bin/env node
// folder-watch DIR — tells what changes in a folder: since the last look, or while one waits.
import fs from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';

const dir = path.resolve(process.argv[2] ?? 'inbox');
fs.mkdirSync(dir, { recursive: true });
const recent = [];
let before = new Map();

const snapshot = () => {
  const seen = new Map();
  for (const entry of fs.readdirSync(dir, { withFileTypes: true })) {
    if (!entry.isFile() || entry.name.startsWith('.')) continue;
    const { size, mtimeMs } = fs.lstatSync(path.join(dir, entry.name));
    seen.set(entry.name, `${size} ${mtimeMs}`);
  }
  return seen;
};
before = snapshot();

let watcher = null;
try {
  watcher = fs.watch(dir, { persistent: false }, (kind, name) => {
    recent.push({ at: new Date().toISOString(), kind, name: String(name) });
    if (recent.length > 100) recent.shift();
  });
  watcher.on('error', () => { watcher = null; });
} catch { /* no inotify left: comparing snapshots still works */ }

function changes() {
  const now = snapshot();
  const lines = [];
  for (const [name, state] of now) if (!before.has(name)) lines.push(`new      ${name}`); else if (before.get(name) !== state) lines.push(`changed  ${name}`);
  for (const name of before.keys()) if (!now.has(name)) lines.push(`gone     ${name}`);
  before = now;
  return lines;
}

const local = { openWorldHint: false };
const tools = [
  { name: 'what_changed', description: 'Says which files in the watched folder are new, changed or gone since the last call.', annotations: { ...local, destructiveHint: false }, inputSchema: { type: 'object', properties: {} },
    run: () => changes().join('\n') || 'Nothing has changed.' },
  { name: 'wait_for_change', description: 'Waits up to five seconds until something changes in the watched folder.', annotations: { ...local, destructiveHint: false },
    inputSchema: { type: 'object', properties: { seconds: { type: 'number', minimum: 0.1, maximum: 5 } } },
    async run({ seconds }) {
      const until = Date.now() + Math.min(Math.max(Number(seconds) || 1, 0.1), 5) * 1000;
      for (;;) {
        const lines = changes();
        if (lines.length) return lines.join('\n');
        if (Date.now() >= until) return 'Nothing has changed.';
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
    } },
  { name: 'recent_events', description: 'Lists the last events that the system reported for the watched folder.', annotations: { ...local, readOnlyHint: true }, inputSchema: { type: 'object', properties: {} },
    run: () => recent.map((e) => `${e.at} ${e.kind} ${e.name}`).join('\n') || (watcher ? 'No events yet.' : 'This system does not report events.') },
  { name: 'drop_note', description: 'Puts a small note, note-<time>.txt, into the watched folder, to see the watch at work.', annotations: { ...local, destructiveHint: false },
    inputSchema: { type: 'object', properties: { text: { type: 'string', maxLength: 2000 } }, required: ['text'] },
    run({ text }) {
      const name = `note-${Date.now()}-${Math.random().toString(36).slice(2, 6)}.txt`;
      fs.writeFileSync(path.join(dir, name), String(text).slice(0, 2000) + '\n', { flag: 'wx' });
      return `Dropped ${name}.`;
    } },
];

const reply = (id, body) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\n');

createInterface({ input: process.stdin }).on('line', async (line) => {
  let message;
  try { message = JSON.parse(line); } catch { return; }
  const { id, method, params = {} } = message ?? {};
  if (id === undefined) return;
  if (method === 'initialize') reply(id, { result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'folder-watch', version: '0.3.0' }, instructions: `Watches ${dir}.` } });
  else if (method === 'ping') reply(id, { result: {} });
  else if (method === 'tools/list') reply(id, { result: { tools: tools.map(({ run, ...t }) => t) } });
  else if (method === 'tools/call') {
    const tool = tools.find((t) => t.name === params.name);
    if (!tool) return reply(id, { error: { code: -32602, message: 'Unknown tool' } });
    try {
      reply(id, { result: { content: [{ type: 'text', text: await tool.run(params.arguments ?? {}) }] } });
    } catch (error) {
      reply(id, { result: { content: [{ type: 'text', text: `The folder cannot be used: ${error.code ?? error.message}` }], isError: true } });
    }
  } else reply(id, { error: { code: -32601, message: 'Method not found' } });
}).on('close', () => watcher?.close());
