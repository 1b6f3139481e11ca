#!/usr/bin/env node
// The pages of a handbook, by dotted names.
import { createInterface } from 'node:readline';
import { existsSync, mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

const root = join(homedir(), '.local', 'share', 'handbook-pages', 'handbook');
const start = {
  'index.md': '# Handbook\n\nSee onboarding.first-day and travel.expenses.\n',
  'onboarding/first-day.md': '# First day\n\nBring your badge. Then read ..travel.expenses.\n',
  'travel/expenses.md': '# Expenses\n\nKeep receipts. Related: .booking\n',
  'travel/booking.md': '# Booking\n\nBook trains two weeks ahead.\n',
};
for (const [path, text] of Object.entries(start)) {
  const full = join(root, path);
  if (existsSync(full)) continue;
  mkdirSync(join(full, '..'), { recursive: true });
  writeFileSync(full, text);
}

// A name that begins with dots is relative to the page that it stands on, as in imports: one dot is
// the folder of the page, and each further one the folder around it.
function locate(name, from) {
  if (/[/\\%\0]/.test(name + from)) throw new Error('names of pages are dotted, without slashes');
  const dots = name.match(/^\.*/)[0].length;
  const base = dots ? from.split('.').slice(0, -1) : [];
  const up = Array.from({ length: Math.max(dots - 1, 0) }, () => '..');
  const rest = name.slice(dots).split(':');
  const parts = [...base, ...up, ...rest[0].split('.')];
  for (const ending of [`.${rest[1] ?? 'md'}`, rest[1] === '' ? '' : '/index.md']) {
    const path = join(root, ...parts) + ending;
    if (existsSync(path) && statSync(path).isFile()) return path;
  }
  throw new Error(`the handbook has no page ${name}`);
}

const list = (dir, prefix = '') => readdirSync(dir, { withFileTypes: true }).flatMap((e) => (e.isDirectory() ? list(join(dir, e.name), `${prefix}${e.name}.`) : e.name.endsWith('.md') ? [prefix + e.name.slice(0, -3)] : []));
const page = { type: 'string', minLength: 1, maxLength: 200, description: 'dotted name of a page, such as travel.expenses' };
const tools = [
  { name: 'list_pages', description: 'Lists the pages of the handbook.', properties: {}, required: [], run: () => list(root).join('\n') },
  { name: 'read_page', description: 'Reads a page of the handbook. Nothing outside of the handbook can be read.', properties: { page, from: { ...page, description: 'the page on which a name with leading dots stands' } }, required: ['page'],
    run: ({ page: name, from = 'index' }) => readFileSync(locate(name, from), 'utf8') },
  { name: 'outline', description: 'Lists the headings of a page of the handbook.', properties: { page }, required: ['page'], run: ({ page: name }) => readFileSync(locate(name, 'index'), 'utf8').split('\n').filter((l) => l.startsWith('#')).join('\n') },
];

createInterface({ input: process.stdin }).on('line', (line) => {
  let message;
  try { message = JSON.parse(line); } catch { return; }
  if (message.id === undefined) return;
  const { method, params = {} } = message, say = (body) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...body }) + '\n');
  const text = (value, isError = false) => say({ result: { content: [{ type: 'text', text: value }], isError } });
  if (method === 'initialize') return say({ result: { protocolVersion: params.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'handbook-pages', version: '1.1.5' } } });
  if (method === 'ping') return say({ result: {} });
  if (method === 'tools/list') return say({ result: { tools: tools.map(({ name, description, properties, required }) => ({ name, description, inputSchema: { type: 'object', properties, required }, annotations: { readOnlyHint: true, openWorldHint: false } })) } });
  const tool = method === 'tools/call' && tools.find((t) => t.name === params.name);
  if (!tool) return say({ error: { code: -32601, message: 'not found' } });
  const args = params.arguments ?? {};
  if (tool.required.some((name) => !(name in args)) || Object.values(args).some((value) => typeof value !== 'string')) return text('missing or wrong arguments', true);
  try { text(tool.run(args)); } catch (error) { text(error.message, true); }
});
