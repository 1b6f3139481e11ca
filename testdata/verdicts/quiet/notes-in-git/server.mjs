#!/usr/bin/env node
// notes-in-git: Markdown notes in a git repository of their own, ~/.local/share/notes-in-git. Each change is a commit, so nothing gets lost.
import { execFileSync } from 'node:child_process';
import * as fs from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const repo = join(process.env.XDG_DATA_HOME || join(homedir(), '.local/share'), 'notes-in-git');

function git(...args) {
  const identity = ['-c', 'user.name=notes-in-git', '-c', 'user.email=notes@localhost', '-c', 'commit.gpgsign=false', '-c', 'core.hooksPath=/dev/null', '-c', 'maintenance.auto=false'];
  return execFileSync('git', ['-C', repo, ...identity, ...args], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'], timeout: 15000 });
}

function ready() {
  if (fs.existsSync(join(repo, '.git'))) return;
  fs.mkdirSync(repo, { recursive: true });
  git('init', '--quiet', '--initial-branch=main');
}

const fileOf = (title) => {
  const name = title.normalize('NFKD').toLowerCase().replace(/[^a-z0-9]+/g, '-').replace(/^-+|-+$/g, '').slice(0, 60);
  if (!name) throw new Error('a title needs letters or digits');
  return `${name}.md`;
};

const title = { type: 'string', minLength: 1 };
const tools = {
  write_note: [{
    description: 'Writes a note, over an older one of the same title, and commits it to ~/.local/share/notes-in-git.',
    inputSchema: { type: 'object', properties: { title, text: { type: 'string' } }, required: ['title', 'text'] },
    annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
  }, ({ title: t, text }) => {
    ready();
    const file = fileOf(t);
    fs.writeFileSync(join(repo, file), `# ${t}\n\n${text}\n`);
    git('add', '--', file);
    if (!git('status', '--porcelain', '--', file)) return 'Nothing has changed.';
    git('commit', '--quiet', '-m', `Write ${file}`, '--', file);
    return `Saved ${file} as ${git('rev-parse', '--short', 'HEAD').trim()}.`;
  }],
  read_note: [{
    description: 'Reads a note.',
    inputSchema: { type: 'object', properties: { title }, required: ['title'] },
    annotations: { readOnlyHint: true, openWorldHint: false },
  }, ({ title: t }) => {
    const path = join(repo, fileOf(t));
    return fs.existsSync(path) ? fs.readFileSync(path, 'utf8') : 'There is no such note.';
  }],
  note_history: [{
    description: 'Shows when notes were changed, newest first.',
    inputSchema: { type: 'object', properties: { count: { type: 'integer', minimum: 1, maximum: 50 } } },
    annotations: { readOnlyHint: true, openWorldHint: false },
  }, ({ count = 10 }) => {
    if (!fs.existsSync(join(repo, '.git'))) return 'There are no notes yet.';
    try {
      return git('log', `--max-count=${Math.min(Math.max(Math.trunc(count) || 10, 1), 50)}`, '--date=iso', '--format=%h %ad %s');
    } catch {
      return 'There are no notes yet.';
    }
  }],
};

function handle(method, params) {
  if (method === 'initialize') return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'notes-in-git', version: '1.0.0' }, instructions: 'Notes are kept in ~/.local/share/notes-in-git and never pushed anywhere.' };
  if (method === 'tools/list') return { tools: Object.entries(tools).map(([name, [declaration]]) => ({ name, ...declaration })) };
  if (method === 'ping') return {};
  if (method === 'tools/call' && Object.hasOwn(tools, params.name ?? '')) {
    const [{ inputSchema }, run] = tools[params.name];
    const args = params.arguments ?? {};
    const missing = (inputSchema.required ?? []).filter((name) => typeof args[name] !== 'string');
    if (missing.length) return { isError: true, content: [{ type: 'text', text: `missing: ${missing.join(', ')}` }] };
    try {
      return { content: [{ type: 'text', text: run(args) }] };
    } catch (error) {
      return { isError: true, content: [{ type: 'text', text: error.message.split('\n')[0] }] };
    }
  }
  return null;
}

createInterface({ input: process.stdin, crlfDelay: Infinity }).on('line', (line) => {
  let message;
  try { message = JSON.parse(line); } catch { return; }
  if (message?.id === undefined) return;
  const result = handle(message.method, message.params ?? {});
  const body = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...body }) + '\n');
});
