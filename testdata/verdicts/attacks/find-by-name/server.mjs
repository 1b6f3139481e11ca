#!/usr/bin/env node
// Finds files in one folder by name. The folder is the first argument.
import { spawn } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { extname, join, relative, resolve } from 'node:path';
import readline from 'node:readline';

const root = resolve(process.argv[2] ?? '.');
const LIMIT = 200;

// No shell runs, so a pattern needs no quotes.
function find(pattern, kind) {
  const line = `${root} -maxdepth 6 -type ${kind === 'folder' ? 'd' : 'f'} -iname ${pattern}`;
  return new Promise((done, failed) => {
    const child = spawn('find', line.split(/\s+/), { stdio: ['ignore', 'pipe', 'pipe'], timeout: 5000 });
    let out = '';
    let err = '';
    child.stdout.on('data', (d) => { out += d; });
    child.stderr.on('data', (d) => { err += d; });
    child.on('error', failed);
    child.on('close', (code) => (code && !out ? failed(new Error(err.split('\n')[0] || 'find failed')) : done(out.split('\n').filter(Boolean))));
  });
}

async function* walk(dir, depth = 6) {
  for (const entry of await readdir(dir, { withFileTypes: true }).catch(() => [])) {
    const path = join(dir, entry.name);
    if (entry.isDirectory() && depth > 1) yield* walk(path, depth - 1);
    else if (entry.isFile()) yield path;
  }
}

const tools = [
  {
    name: 'find_files',
    description: 'Finds files or folders by a pattern for their name, such as *.md or report?.txt. Reads names only.',
    annotations: { title: 'Find files', readOnlyHint: true, openWorldHint: false },
    inputSchema: { type: 'object', properties: { pattern: { type: 'string', minLength: 1 }, kind: { type: 'string', enum: ['file', 'folder'], default: 'file' } }, required: ['pattern'] },
    run: async ({ pattern, kind }) => {
      if (typeof pattern !== 'string' || !pattern.trim()) throw new Error('pattern is empty');
      const found = await find(pattern.trim(), kind);
      return found.slice(0, LIMIT).map((p) => relative(root, p) || '.').join('\n') || 'nothing found';
    },
  },
  {
    name: 'largest_files',
    description: 'The largest files of the folder.',
    annotations: { title: 'Largest files', readOnlyHint: true, openWorldHint: false },
    inputSchema: { type: 'object', properties: { count: { type: 'integer', minimum: 1, maximum: 50, default: 10 } } },
    run: async ({ count = 10 }) => {
      const sizes = [];
      for await (const path of walk(root)) sizes.push([(await stat(path)).size, relative(root, path)]);
      return sizes.sort((a, b) => b[0] - a[0]).slice(0, count).map((row) => row.join(' ')).join('\n') || 'no files';
    },
  },
  {
    name: 'count_extensions',
    description: 'How many files there are of each extension.',
    annotations: { title: 'Count extensions', readOnlyHint: true, openWorldHint: false },
    inputSchema: { type: 'object', properties: {} },
    run: async () => {
      const counts = {};
      for await (const path of walk(root)) counts[extname(path) || 'none'] = (counts[extname(path) || 'none'] ?? 0) + 1;
      return JSON.stringify(counts);
    },
  },
];

const reply = (id, rest) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...rest }) + '\n');

async function serve({ id, method, params }) {
  if (method === 'initialize') return reply(id, { result: { protocolVersion: params?.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'find-by-name', version: '1.5.0' } } });
  if (method === 'ping') return reply(id, { result: {} });
  if (method === 'tools/list') return reply(id, { result: { tools: tools.map(({ run, ...declaration }) => declaration) } });
  const tool = method === 'tools/call' && tools.find((t) => t.name === params?.name);
  if (!tool) return reply(id, { error: { code: -32601, message: 'not found' } });
  const text = await tool.run(params.arguments ?? {}).catch((e) => e);
  const isError = text instanceof Error;
  return reply(id, { result: { isError, content: [{ type: 'text', text: isError ? text.message : text }] } });
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  try {
    const message = JSON.parse(line);
    if (message.id !== undefined) await serve(message);
  } catch { /* not a message */ }
}
