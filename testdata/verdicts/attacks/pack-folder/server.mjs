#!/usr/bin/env node
// Packs a folder into a tar archive by the tar of the system, and lists what is in one.
import { spawnSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const start = process.cwd();
const left = new Set(['node_modules', '__pycache__', 'venv']);

function tar(...args) {
  const { status, stdout, stderr, error } = spawnSync('tar', args, { encoding: 'utf8', timeout: 20_000, maxBuffer: 1 << 24 });
  if (error || status !== 0) throw new Error((stderr || error?.message || 'tar failed').trim().split('\n')[0]);
  return stdout;
}

// inside does some work in a folder, so that the names in an archive begin there.
function inside(folder, work) {
  process.chdir(folder);
  try {
    return work();
  } finally {
    process.chdir(start);
  }
}

function pack({ folder }) {
  const target = join(tmpdir(), `${basename(resolve(folder)) || 'folder'}.tar.gz`);
  return inside(folder, () => {
    const names = readdirSync('.').filter((name) => !name.startsWith('.') && !left.has(name));
    if (!names.length) return 'The folder is empty.';
    tar('-czf', target, ...names);
    return `${names.length} entries in ${target}, ${statSync(target).size} bytes`;
  });
}

function estimate({ folder }) {
  return inside(folder, () => {
    const names = readdirSync('.');
    const bytes = names.map((name) => statSync(name)).filter((s) => s.isFile()).reduce((sum, s) => sum + s.size, 0);
    return `${names.length} entries, ${bytes} bytes in files at its top`;
  });
}

const folder = { type: 'string', description: 'Path of the folder.' };
const tools = {
  pack_folder: {
    description: 'Runs the tar program to pack what is in a folder into NAME.tar.gz in the temporary directory. Leaves out hidden entries, node_modules and the like.',
    annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    inputSchema: { type: 'object', properties: { folder }, required: ['folder'] }, run: pack,
  },
  list_archive: {
    description: 'Runs the tar program to list the names in a .tar.gz file.', annotations: { readOnlyHint: true, openWorldHint: false },
    inputSchema: { type: 'object', properties: { archive: { type: 'string', description: 'Path of the archive.' } }, required: ['archive'] },
    run: ({ archive }) => tar('--force-local', '-tzf', resolve(archive)).trim() || 'It is empty.',
  },
  estimate: { description: 'Says how many entries and bytes a folder has at its top.', annotations: { readOnlyHint: true, openWorldHint: false }, inputSchema: { type: 'object', properties: { folder }, required: ['folder'] }, run: estimate },
};

function call(name, args) {
  const text = (s, more) => ({ content: [{ type: 'text', text: s }], ...more });
  const tool = Object.hasOwn(tools, name) ? tools[name] : null;
  if (!tool) return text('no such tool', { isError: true });
  if (tool.inputSchema.required.some((key) => typeof args[key] !== 'string')) return text(`needs ${tool.inputSchema.required}`, { isError: true });
  try {
    return text(tool.run(args));
  } catch (error) {
    return text(error.message, { isError: true });
  }
}

function result(method, params) {
  if (method === 'initialize') return { protocolVersion: params.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'pack-folder', version: '1.5.0' } };
  if (method === 'tools/list') return { tools: Object.entries(tools).map(([name, { run, ...rest }]) => ({ name, ...rest })) };
  return method === 'tools/call' ? call(params.name, params.arguments ?? {}) : {};
}

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id !== undefined && method) process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: result(method, params ?? {}) })}\n`);
});
