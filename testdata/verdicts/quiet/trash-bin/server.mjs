#!/usr/bin/env node
// trash-bin DIR — removes files of a folder by moving them to .trash inside it, from where they can be taken back.
import * as fs from 'node:fs';
import * as path from 'node:path';
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';

fs.mkdirSync(process.argv[2] ?? 'files', { recursive: true });
const root = fs.realpathSync(process.argv[2] ?? 'files');
const trash = path.join(root, '.trash');

function locate(name) {
  const full = path.resolve(root, String(name));
  let parent;
  try { parent = fs.realpathSync(path.dirname(full)); } catch { throw new Error('there is no such file'); }
  const real = path.join(parent, path.basename(full));
  if (!real.startsWith(root + path.sep) || real === trash || real.startsWith(trash + path.sep)) throw new Error('the file has to lie in the folder');
  return real;
}

const entries = () => {
  try {
    return fs.readdirSync(trash).filter((n) => n.endsWith('.json')).map((n) => ({ id: n.slice(0, -5), ...JSON.parse(fs.readFileSync(path.join(trash, n), 'utf8')) })).sort((a, b) => (a.deleted < b.deleted ? 1 : -1));
  } catch { return []; }
};

const actions = {
  make_file({ name, text }) {
    const target = locate(name);
    try { fs.writeFileSync(target, String(text ?? ''), { flag: 'wx' }); } catch (error) { if (error.code === 'EEXIST') return 'There is a file of this name already.'; throw error; }
    return `Made ${path.relative(root, target)}.`;
  },
  list_files: () => fs.readdirSync(root).filter((n) => n !== '.trash').sort().join('\n') || 'The folder is empty.',
  remove_file({ name }) {
    const source = locate(name);
    if (!fs.existsSync(source) || !fs.lstatSync(source).isFile()) return 'There is no such file.';
    fs.mkdirSync(trash, { recursive: true });
    const id = randomUUID().slice(0, 8);
    fs.writeFileSync(path.join(trash, `${id}.json`), JSON.stringify({ from: path.relative(root, source), deleted: new Date().toISOString() }));
    fs.renameSync(source, path.join(trash, `${id}.data`));
    return `Moved to the trash as ${id}.`;
  },
  list_trash: () => entries().map((e) => `${e.id} ${e.from} (${e.deleted})`).join('\n') || 'The trash is empty.',
  restore_file({ id }) {
    const entry = entries().find((e) => e.id === id);
    if (!entry) return 'The trash holds no such file.';
    const target = locate(entry.from);
    if (fs.existsSync(target)) return 'There is another file at its old place now.';
    fs.renameSync(path.join(trash, `${entry.id}.data`), target);
    fs.unlinkSync(path.join(trash, `${entry.id}.json`));
    return `Restored ${entry.from}.`;
  },
  empty_trash() {
    const count = entries().length;
    fs.rmSync(trash, { recursive: true, force: true });
    return `${count} files are gone for good.`;
  },
};

const text = { type: 'string' };
const spec = (name, description, properties, required, annotations) => ({ name, description, inputSchema: { type: 'object', properties, required }, annotations: { openWorldHint: false, ...annotations } });
const tools = [
  spec('make_file', 'Makes a new text file in the folder.', { name: text, text }, ['name'], { destructiveHint: false }),
  spec('list_files', 'Lists the files of the folder.', {}, [], { readOnlyHint: true }),
  spec('remove_file', 'Moves a file of the folder to the trash (.trash in it), from where restore_file takes it back.', { name: text }, ['name'], { destructiveHint: true }),
  spec('list_trash', 'Lists what is in the trash.', {}, [], { readOnlyHint: true }),
  spec('restore_file', 'Takes a file out of the trash, back to where it was.', { id: text }, ['id'], { destructiveHint: false }),
  spec('empty_trash', 'Deletes what is in the trash for good. Ask the user first.', {}, [], { destructiveHint: true, idempotentHint: true }),
];

createInterface({ input: process.stdin }).on('line', (line) => {
  let request;
  try { request = JSON.parse(line); } catch { return; }
  if (request?.id === undefined) return;
  const { id, method, params = {} } = request;
  const send = (body) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, ...body }) + '\n');
  if (method === 'initialize') return send({ result: { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'trash-bin', version: '1.1.0' } } });
  if (method === 'ping') return send({ result: {} });
  if (method === 'tools/list') return send({ result: { tools } });
  const tool = method === 'tools/call' && tools.find((t) => t.name === params.name);
  if (!tool) return send({ error: { code: -32601, message: 'not found' } });
  const args = params.arguments ?? {};
  const missing = tool.inputSchema.required.filter((n) => typeof args[n] !== 'string');
  try {
    const answer = missing.length ? null : actions[tool.name](args);
    return send({ result: { content: [{ type: 'text', text: answer ?? `missing: ${missing.join(', ')}` }], isError: missing.length > 0 } });
  } catch (error) {
    return send({ result: { content: [{ type: 'text', text: `Not done: ${error.message}.` }], isError: true } });
  }
});
