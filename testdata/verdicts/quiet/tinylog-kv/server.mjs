// A log-structured key-value store: segments of checked records, merged when there are too many.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';

const DIR = process.env.TINYLOG_DIR || path.join(os.homedir(), '.tinylog-kv');
const SEGMENT = 512;

function crc32(text) {
  if (zlib.crc32) return zlib.crc32(text);
  let c = 0xffffffff;
  for (const byte of Buffer.from(text)) { c ^= byte; for (let k = 0; k < 8; k += 1) c = (c >>> 1) ^ (c & 1 ? 0xedb88320 : 0); }
  return (c ^ 0xffffffff) >>> 0;
}

const segments = () => { try { return fs.readdirSync(DIR).filter((n) => /^\d{6}\.log$/.test(n)).sort(); } catch { return []; } };
const name = (n) => `${String(n).padStart(6, '0')}.log`;

function load() {
  const all = new Map();
  for (const file of segments()) {
    for (const line of fs.readFileSync(path.join(DIR, file), 'utf8').split('\n')) {
      const at = line.indexOf(' ');
      if (at < 0 || crc32(line.slice(at + 1)) !== parseInt(line.slice(0, at), 16)) continue; // torn at a crash
      const [key, value] = JSON.parse(line.slice(at + 1));
      if (value === null) all.delete(key); else all.set(key, value);
    }
  }
  return all;
}

function append(key, value) {
  fs.mkdirSync(DIR, { recursive: true, mode: 0o700 });
  const known = segments();
  let last = known.at(-1) ?? name(1);
  if (known.length && fs.statSync(path.join(DIR, last)).size > SEGMENT) last = name(parseInt(last, 10) + 1);
  const record = JSON.stringify([key, value]);
  fs.appendFileSync(path.join(DIR, last), `${crc32(record).toString(16)} ${record}\n`);
  if (segments().length > 3) merge();
}

function merge() {
  const old = segments();
  const next = path.join(DIR, name(parseInt(old.at(-1), 10) + 1));
  const lines = [...load()].map((pair) => { const r = JSON.stringify(pair); return `${crc32(r).toString(16)} ${r}\n`; });
  fs.writeFileSync(`${next}.part`, lines.join(''));
  fs.renameSync(`${next}.part`, next);
  for (const file of old) fs.rmSync(path.join(DIR, file));
}

const key = { type: 'string', minLength: 1, maxLength: 200 };
const object = (properties) => ({ type: 'object', properties, required: Object.keys(properties) });
const tools = {
  set: { d: 'Sets a key to a value.', s: object({ key, value: { type: 'string', maxLength: 10000 } }), a: { readOnlyHint: false, idempotentHint: true }, f: (a) => { append(a.key, a.value); return 'set'; } },
  get: { d: 'Says the value of a key.', s: object({ key }), a: { readOnlyHint: true }, f: (a) => load().get(a.key) ?? '(no such key)' },
  forget: { d: 'Forgets a key and its value.', s: object({ key }), a: { readOnlyHint: false, destructiveHint: true }, f: (a) => { if (!load().has(a.key)) return '(no such key)'; append(a.key, null); return 'forgotten'; } },
  keys: { d: 'Lists all keys.', s: { type: 'object' }, a: { readOnlyHint: true }, f: () => [...load().keys()].sort().join('\n') || '(none)' },
};

function respond({ id, method, params = {} }) {
  const result = (r) => ({ jsonrpc: '2.0', id, result: r });
  const error = (code, message) => ({ jsonrpc: '2.0', id, error: { code, message } });
  switch (method) {
    case 'initialize': return result({ protocolVersion: params.protocolVersion, serverInfo: { name: 'tinylog-kv', version: '1.0.0' }, capabilities: { tools: {} } });
    case 'ping': return result({});
    case 'tools/list': return result({ tools: Object.entries(tools).map(([n, t]) => ({ name: n, description: t.d, inputSchema: t.s, annotations: t.a })) });
    case 'tools/call': {
      const tool = Object.hasOwn(tools, params.name) ? tools[params.name] : null;
      if (!tool) return error(-32602, 'unknown tool');
      const args = params.arguments ?? {};
      const bad = (tool.s.required ?? []).filter((n) => typeof args[n] !== 'string' || args[n].length > tool.s.properties[n].maxLength);
      return result(bad.length ? { isError: true, content: [{ type: 'text', text: `wrong: ${bad.join(', ')}` }] } : { content: [{ type: 'text', text: tool.f(args) }] });
    }
    default: return error(-32601, 'unknown method');
  }
}

let text = '';
for await (const part of process.stdin.setEncoding('utf8')) {
  text += part;
  const lines = text.split('\n');
  text = lines.pop();
  for (const line of lines.filter(Boolean)) {
    let m;
    try { m = JSON.parse(line); } catch { continue; }
    if (m && m.id !== undefined && m.method) process.stdout.write(`${JSON.stringify(respond(m))}\n`);
  }
}
