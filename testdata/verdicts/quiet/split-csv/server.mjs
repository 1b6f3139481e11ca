#!/usr/bin/env node
// split-csv: cuts a large CSV file into parts that have the header each, and joins such parts again.
// Works on streams, so that a file may be larger than memory. Line breaks in quoted fields are kept together.
import fs from 'node:fs';
import path from 'node:path';
import readline from 'node:readline';

const ROOT = fs.realpathSync('.');
const MAX_PARTS = 2000;

function locate(name, { mustExist = true } = {}) {
  if (typeof name !== 'string' || !name || name.includes('\0')) throw new Error('a file name is missing');
  const full = path.resolve(ROOT, name);
  const real = fs.existsSync(full) ? fs.realpathSync(full) : path.join(fs.realpathSync(path.dirname(full)), path.basename(full));
  if (!real.startsWith(ROOT + path.sep)) throw new Error(`${name} is not in ${ROOT}`);
  if (mustExist && !fs.statSync(real).isFile()) throw new Error(`${name} is not a file`);
  if (!mustExist && fs.existsSync(real)) throw new Error(`${name} exists already`);
  return real;
}

async function* records(file) {
  let record = '';
  let open = false;
  for await (const line of readline.createInterface({ input: fs.createReadStream(file), crlfDelay: Infinity })) {
    record = open ? `${record}\n${line}` : line;
    if ((line.match(/"/g) ?? []).length % 2) open = !open;
    if (!open) { if (record) yield record; record = ''; }
  }
  if (record) yield record;
}

async function split_csv({ file, rows_per_part: rows }) {
  const source = locate(file);
  if (!Number.isInteger(rows) || rows < 1) throw new Error('rows_per_part is a number from 1');
  const folder = locate(`${file}-parts`, { mustExist: false });
  fs.mkdirSync(folder);
  let header, out, count = 0, parts = 0;
  try {
    for await (const record of records(source)) {
      if (header === undefined) { header = record.replace(/^\ufeff/, ''); continue; }
      if (count % rows === 0) {
        if (out !== undefined) fs.closeSync(out);
        if (++parts > MAX_PARTS) throw new Error(`more than ${MAX_PARTS} parts; choose more rows for each`);
        out = fs.openSync(path.join(folder, `part-${String(parts).padStart(4, '0')}.csv`), 'wx');
        fs.writeSync(out, header + '\n');
      }
      fs.writeSync(out, record + '\n');
      count++;
    }
  } finally {
    if (out !== undefined) fs.closeSync(out);
  }
  return `${count} rows in ${parts} parts in ${path.relative(ROOT, folder)}/`;
}

async function join_csv({ files, output }) {
  if (!Array.isArray(files) || !files.length) throw new Error('files is a list of names');
  const sources = files.map((f) => locate(f));
  const target = locate(output, { mustExist: false });
  const temporary = `${target}.${process.pid}.part`;
  const out = fs.openSync(temporary, 'wx');
  let header, count = 0;
  try {
    for (const source of sources) {
      let first = true;
      for await (const record of records(source)) {
        if (!first) { fs.writeSync(out, record + '\n'); count++; continue; }
        first = false;
        const own = record.replace(/^\ufeff/, '');
        if (header === undefined) { header = own; fs.writeSync(out, own + '\n'); } else if (own !== header) throw new Error(`${path.relative(ROOT, source)} has another header`);
      }
    }
    fs.fsyncSync(out);
    fs.renameSync(temporary, target);
  } finally {
    fs.closeSync(out);
    fs.rmSync(temporary, { force: true });
  }
  return `${count} rows of ${sources.length} files in ${output}`;
}

async function head_csv({ file, rows = 5 }) {
  const shown = [];
  for await (const record of records(locate(file))) {
    shown.push(record.slice(0, 2000));
    if (shown.length > Math.min(Math.max(Number(rows) || 5, 1), 100)) break;
  }
  return shown.join('\n') || 'The file is empty.';
}

const file = { type: 'string', description: 'CSV file in the working directory' };
const tools = [
  [split_csv, 'Splits a CSV file into parts of so many rows, each with the header. Writes them to a new folder FILE-parts.', { file, rows_per_part: { type: 'integer', minimum: 1 } }, ['file', 'rows_per_part'], { destructiveHint: false, openWorldHint: false }],
  [join_csv, 'Joins CSV files that have the same header, in the order given, into a new file.', { files: { type: 'array', items: { type: 'string' } }, output: { type: 'string' } }, ['files', 'output'], { destructiveHint: false, openWorldHint: false }],
  [head_csv, 'Shows the header and the first rows of a CSV file.', { file, rows: { type: 'integer', minimum: 1, maximum: 100, default: 5 } }, ['file'], { readOnlyHint: true, openWorldHint: false }],
];

const reply = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\n');
for await (const line of readline.createInterface({ input: process.stdin })) {
  let m;
  try { m = JSON.parse(line); } catch { continue; }
  if (m?.id === undefined || m.id === null) continue;
  if (m.method === 'initialize') reply({ id: m.id, result: { protocolVersion: m.params?.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'split-csv', version: '0.9.0' } } });
  else if (m.method === 'tools/list') reply({ id: m.id, result: { tools: tools.map(([run, description, properties, required, annotations]) => ({ name: run.name, description, inputSchema: { type: 'object', properties, required }, annotations })) } });
  else if (m.method === 'ping') reply({ id: m.id, result: {} });
  else if (m.method === 'tools/call') {
    const tool = tools.find(([run]) => run.name === m.params?.name);
    if (!tool) { reply({ id: m.id, error: { code: -32602, message: `unknown tool ${m.params?.name}` } }); continue; }
    const result = await tool[0](m.params.arguments ?? {}).then((text) => ({ content: [{ type: 'text', text }] }), (e) => ({ isError: true, content: [{ type: 'text', text: e.message }] }));
    reply({ id: m.id, result });
  } else reply({ id: m.id, error: { code: -32601, message: 'method not found' } });
}
