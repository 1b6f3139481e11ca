#!/usr/bin/env node
// loose-objects: looks into .git without git. Shows how commits, trees and blobs are stored; packed objects are counted, not read.
'use strict';
const fs = require('node:fs');
const path = require('node:path');
const zlib = require('node:zlib');
const { createHash } = require('node:crypto');

const top = fs.realpathSync(process.argv[2] || '.');
const READ_ONLY = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

// file gives the path of a file in .git, and does not follow links out of it.
function file(...parts) {
  const git = path.join(top, '.git');
  if (!fs.statSync(git, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`${top} has no .git folder (linked worktrees are not supported).`);
  const full = path.join(git, ...parts);
  if (!full.startsWith(git + path.sep)) throw new Error('That is not in .git.');
  if (!fs.existsSync(full)) return null;
  if (!fs.realpathSync(full).startsWith(fs.realpathSync(git) + path.sep)) throw new Error('A link leads out of .git.');
  return full;
}

function readObject(id) {
  const found = file('objects', id.slice(0, 2), id.slice(2));
  if (!found) return null;
  const data = zlib.inflateSync(fs.readFileSync(found), { maxOutputLength: 4 << 20 });
  const end = data.indexOf(0);
  const [type, size] = data.toString('latin1', 0, end).split(' ');
  if (createHash('sha1').update(data).digest('hex') !== id) throw new Error(`${id} is damaged: its hash is another.`);
  return { type, size: Number(size), body: data.subarray(end + 1) };
}

function prefix(short) {
  const folder = file('objects', short.slice(0, 2));
  const names = folder ? fs.readdirSync(folder).map((n) => short.slice(0, 2) + n).filter((n) => /^[0-9a-f]{40}$/.test(n) && n.startsWith(short)) : [];
  if (names.length > 1) throw new Error(`Several objects begin with ${short}: ${names.slice(0, 5).join(', ')}`);
  return names[0] ?? null;
}

function packedRefs() {
  const packed = file('packed-refs');
  return new Map((packed ? fs.readFileSync(packed, 'utf8').split('\n') : []).map((l) => /^([0-9a-f]{40}) (refs\/\S+)$/.exec(l)).filter(Boolean).map(([, id, ref]) => [ref, id]));
}

function resolve(name, depth = 0) {
  if (depth > 5) throw new Error('References go round in a circle.');
  if (/^[0-9a-f]{40}$/.test(name)) return name;
  if (!/^(?!.*\.\.)(HEAD|[\w][\w./-]*)$/.test(name)) throw new Error('A name is a hash, HEAD, a branch or a tag.');
  for (const ref of name === 'HEAD' ? ['HEAD'] : name.startsWith('refs/') ? [name] : [`refs/heads/${name}`, `refs/tags/${name}`, `refs/remotes/${name}`]) {
    const found = file(ref);
    if (found && fs.statSync(found).isFile()) { const text = fs.readFileSync(found, 'utf8').trim(); return resolve(text.startsWith('ref: ') ? text.slice(5) : text, depth + 1); }
    const id = packedRefs().get(ref);
    if (id) return id;
  }
  const id = /^[0-9a-f]{4,39}$/.test(name) ? prefix(name) : null;
  if (!id) throw new Error(`${name} is not known.`);
  return id;
}

function tree(body) {
  const lines = [];
  for (let at = 0; at < body.length;) {
    const end = body.indexOf(0, at);
    const [mode, ...name] = body.toString('utf8', at, end).split(' ');
    lines.push(`${mode.padStart(6, '0')} ${body.toString('hex', end + 1, end + 21)}  ${name.join(' ')}`);
    at = end + 21;
  }
  return lines.join('\n');
}

const tools = {
  show_object: ['Shows the type, size and content of a loose object of this repository, by hash, branch, tag or HEAD.', { object: { type: 'string', examples: ['HEAD', '9daeafb9'] } }, ({ object }) => {
    const id = resolve(object);
    const found = readObject(id);
    if (!found) return `${id} is not a loose object; it is in a pack or missing.`;
    const text = found.type === 'tree' ? tree(found.body) : found.body.includes(0) ? `(${found.size} bytes that are no text)` : found.body.toString('utf8').slice(0, 20000);
    return `${found.type} ${id}, ${found.size} bytes\n${text}`;
  }],
  list_references: ['Lists branches and tags with the commits at which they point.', {}, () => {
    const all = packedRefs();
    const walk = (dir) => { const d = file(dir); for (const e of d ? fs.readdirSync(d, { withFileTypes: true }) : []) { const ref = `${dir}/${e.name}`; if (e.isDirectory()) walk(ref); else if (e.isFile() && !e.name.endsWith('.lock')) all.set(ref, fs.readFileSync(file(ref), 'utf8').trim()); } };
    walk('refs');
    return [...all].sort().slice(0, 1000).map(([ref, id]) => `${id}  ${ref}`).join('\n') || 'None.';
  }],
  count_objects: ['Counts loose objects and packs and their sizes on disk.', {}, () => {
    const objects = file('objects');
    let count = 0; let bytes = 0; const packs = [];
    for (const name of objects ? fs.readdirSync(objects) : []) {
      if (/^[0-9a-f]{2}$/.test(name)) for (const o of fs.readdirSync(path.join(objects, name))) { count++; bytes += fs.statSync(path.join(objects, name, o)).size; }
      if (name === 'pack') packs.push(...fs.readdirSync(path.join(objects, name)).filter((n) => n.endsWith('.pack')).map((n) => `${n}  ${fs.statSync(path.join(objects, name, n)).size} bytes`));
    }
    return [`${count} loose objects, ${bytes} bytes`, ...packs].join('\n');
  }],
};

function handle(method, params) {
  switch (method) {
    case 'initialize': return { protocolVersion: params.protocolVersion ?? '2025-03-26', capabilities: { tools: {} }, serverInfo: { name: 'loose-objects', version: '1.0.1' } };
    case 'ping': return {};
    case 'tools/list': return { tools: Object.entries(tools).map(([name, [description, properties]]) => ({ name, description, annotations: READ_ONLY, inputSchema: { type: 'object', properties, required: Object.keys(properties) } })) };
    case 'tools/call': {
      const [, properties, run] = Object.hasOwn(tools, String(params.name)) ? tools[params.name] : [];
      const args = params.arguments ?? {};
      if (!run || Object.keys(properties).some((key) => typeof args[key] !== 'string')) return { isError: true, content: [{ type: 'text', text: run ? `Needed: ${Object.keys(properties)}` : 'Unknown tool' }] };
      try { return { content: [{ type: 'text', text: run(args) }] }; } catch (error) { return { isError: true, content: [{ type: 'text', text: error.message }] }; }
    }
    default: return undefined;
  }
}

let input = '';
process.stdin.setEncoding('utf8').on('data', (data) => {
  input += data;
  let end;
  while ((end = input.indexOf('\n')) !== -1) {
    const line = input.slice(0, end);
    input = input.slice(end + 1);
    let request;
    try { request = JSON.parse(line); } catch { continue; }
    if (typeof request !== 'object' || request === null || !('id' in request)) continue;
    const result = handle(request.method, request.params ?? {});
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: request.id, ...(result ? { result } : { error: { code: -32601, message: 'Method not found' } }) })}\n`);
  }
});
