// png-labels: the texts inside PNG files (title, author, comment, software) without any image library.
import { promises as fs } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { inflateSync } from 'node:zlib';
import { Server, string } from './mcp.mjs';

const ROOT = path.resolve(process.argv[2] ?? process.env.PNG_LABELS_DIR ?? path.join(homedir(), 'Pictures'));
const SIGNATURE = Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]);
const TEXTS = ['tEXt', 'zTXt', 'iTXt'];
const COLOURS = { 0: 'grey', 2: 'RGB', 3: 'palette', 4: 'grey with alpha', 6: 'RGB with alpha' };

const table = Uint32Array.from({ length: 256 }, (_, n) => { for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ (n >>> 1) : n >>> 1; return n >>> 0; });
const crc = (bytes) => { let c = 0xffffffff; for (const b of bytes) c = table[(c ^ b) & 255] ^ (c >>> 8); return (c ^ 0xffffffff) >>> 0; };

async function locate(name) {
  const file = await fs.realpath(path.resolve(ROOT, name));
  const root = await fs.realpath(ROOT);
  if (!file.startsWith(root + path.sep)) throw new Error(`${name} is not inside ${ROOT}`);
  if ((await fs.stat(file)).size > 50e6) throw new Error(`${name} is larger than 50 MB`);
  return file;
}

async function chunks(file) {
  const data = await fs.readFile(file);
  if (!data.subarray(0, 8).equals(SIGNATURE)) throw new Error(`${path.basename(file)} is no PNG`);
  const list = [];
  for (let at = 8; at + 12 <= data.length;) {
    const length = data.readUInt32BE(at);
    if (at + 12 + length > data.length) throw new Error(`a chunk at ${at} is cut off`);
    list.push({ type: data.toString('latin1', at + 4, at + 8), body: data.subarray(at + 8, at + 8 + length) });
    at += 12 + length;
  }
  return list;
}

function encode(list) {
  const parts = [SIGNATURE];
  for (const { type, body } of list) {
    const named = Buffer.concat([Buffer.from(type, 'latin1'), body]);
    const frame = Buffer.alloc(8);
    frame.writeUInt32BE(body.length, 0);
    frame.writeUInt32BE(crc(named), 4);
    parts.push(frame.subarray(0, 4), named, frame.subarray(4));
  }
  return Buffer.concat(parts);
}

function label({ type, body }) {
  const end = body.indexOf(0);
  const keyword = body.toString('latin1', 0, end);
  const inflate = (b) => inflateSync(b, { maxOutputLength: 1 << 20 }).toString();
  if (type === 'tEXt') return [keyword, body.toString('latin1', end + 1)];
  if (type === 'zTXt') return [keyword, inflate(body.subarray(end + 2))];
  const language = body.indexOf(0, end + 3);
  const translated = body.indexOf(0, language + 1);
  const text = body.subarray(translated + 1);
  return [keyword, body[end + 1] ? inflate(text) : text.toString()];
}

async function replace(file, data) {
  const next = `${file}.${process.pid}.tmp`;
  await fs.writeFile(next, data, { mode: (await fs.stat(file)).mode });
  await fs.rename(next, file);
}

const file = { type: 'string', description: `a PNG below ${ROOT}` };
const server = new Server('png-labels', { version: '1.1.0', instructions: `Works on PNG files below ${ROOT}. Pixels are never touched.` });

server.tool('list_pngs', 'Lists the PNG files in the folder or one of its subfolders.', { optional: { folder: string }, annotations: { readOnlyHint: true, openWorldHint: false } }, async ({ folder = '.' }) => {
  const entries = await fs.readdir(folder === '.' ? ROOT : await locate(folder), { withFileTypes: true });
  return entries.filter((e) => e.isDirectory() || /\.png$/i.test(e.name)).slice(0, 500).map((e) => (e.isDirectory() ? `${e.name}/` : e.name)).join('\n') || 'No PNG here.';
});

server.tool('show_labels', 'Shows size, colours and all embedded texts of a PNG.', { required: { file }, annotations: { readOnlyHint: true, openWorldHint: false } }, async ({ file: name }) => {
  const list = await chunks(await locate(name));
  const head = list.find((c) => c.type === 'IHDR')?.body;
  const lines = head ? [`${head.readUInt32BE(0)} x ${head.readUInt32BE(4)}, ${head[8]} bits, ${COLOURS[head[9]] ?? 'unknown colours'}`] : ['no header'];
  for (const c of list.filter((chunk) => TEXTS.includes(chunk.type))) lines.push(label(c).map((s) => s.slice(0, 2000)).join(': '));
  return lines.join('\n');
});

server.tool('set_label', 'Sets one embedded text of a PNG, such as Title, Author or Comment. The file is rewritten; an older text with the same keyword is replaced.', {
  required: { file, keyword: { type: 'string', minLength: 1, maxLength: 79, pattern: '^[ -~]+$', examples: ['Title'] }, text: { type: 'string', maxLength: 10000 } },
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
}, async ({ file: name, keyword, text }) => {
  if (!/^[!-~]([ -~]{0,77}[!-~])?$/.test(keyword)) throw new Error('a keyword is 1 to 79 printable ASCII characters');
  if (text.length > 10000) throw new Error('a text has at most 10000 characters');
  const target = await locate(name);
  const list = (await chunks(target)).filter((c) => !TEXTS.includes(c.type) || label(c)[0] !== keyword);
  const body = Buffer.concat([Buffer.from(`${keyword}\0\0\0\0\0`, 'latin1'), Buffer.from(text)]);
  list.splice(1, 0, { type: 'iTXt', body });
  await replace(target, encode(list));
  return `${keyword} is set in ${name}.`;
});

server.tool('strip_labels', 'Writes a copy NAME.clean.png without embedded texts, times and EXIF data beside the picture. An older copy is overwritten; the picture itself stays as it is.', { required: { file } }, async ({ file: name }) => {
  const source = await locate(name);
  const list = await chunks(source);
  const kept = list.filter((c) => ![...TEXTS, 'tIME', 'eXIf'].includes(c.type));
  const target = `${source.replace(/\.png$/i, '')}.clean.png`;
  await fs.writeFile(`${target}.tmp`, encode(kept));
  await fs.rename(`${target}.tmp`, target);
  return `${list.length - kept.length} of ${list.length} chunks left out in ${path.basename(target)}.`;
});

server.run();
