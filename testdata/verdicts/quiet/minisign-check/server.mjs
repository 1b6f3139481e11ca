#!/usr/bin/env node
// minisign-check FOLDER: verifies files against their minisign signatures (NAME.minisig). Trusted public keys are kept as
// ~/.config/minisign-check/NAME.pub; secret keys are neither needed nor read.
import { createHash, createPublicKey, timingSafeEqual, verify } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { lstat, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { Server } from './mcp.mjs';

const folder = resolve(process.argv[2] ?? '.');
const keys = join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'minisign-check');
const LEGACY_LIMIT = 256 << 20; // signatures of the old kind need the whole file in memory
const server = new Server('minisign-check', { version: '1.1.2', instructions: `Verifies files in ${folder}. Trusted public keys are kept in ${keys}.` });

function bytes(text, length, what) {
  const found = /^[A-Za-z0-9+/]+={0,2}$/.test(text ?? '') ? Buffer.from(text, 'base64') : Buffer.alloc(0);
  if (found.length !== length) throw new Error(`${what} is damaged`);
  return found;
}

function publicKey(text) {
  const raw = bytes(text.trim().split(/\r?\n/).at(-1), 42, 'the public key');
  if (raw.toString('latin1', 0, 2) !== 'Ed') throw new Error('the public key is of an unknown kind');
  return { id: raw.subarray(2, 10), key: createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: raw.subarray(10).toString('base64url') } }) };
}

function signature(text) {
  const lines = text.split(/\r?\n/);
  if (!lines[0]?.startsWith('untrusted comment: ') || !lines[2]?.startsWith('trusted comment: ')) throw new Error('that is no minisign signature');
  const raw = bytes(lines[1], 74, 'the signature');
  const kind = raw.toString('latin1', 0, 2);
  if (kind !== 'Ed' && kind !== 'ED') throw new Error('the signature is of an unknown kind');
  return { hashed: kind === 'ED', id: raw.subarray(2, 10), sig: raw.subarray(10), comment: lines[2].slice(17), whole: bytes(lines[3], 64, "the comment's signature") };
}

const shown = (id) => Buffer.from(id).reverse().toString('hex').toUpperCase();

async function trusted() {
  const found = [];
  for (const name of (await readdir(keys).catch(() => [])).filter((n) => n.endsWith('.pub')).sort()) {
    try { found.push({ name: name.slice(0, -4), ...publicKey(await readFile(join(keys, name), 'utf8')) }); } catch { /* damaged: not trusted */ }
  }
  return found;
}

async function inFolder(name) {
  if (!name || name !== basename(name) || name.startsWith('.') || name.includes('\0')) throw new Error(`file is the name of a file in ${folder}, without a path`);
  const path = join(folder, name);
  if (!(await lstat(path).catch(() => null))?.isFile()) throw new Error(`there is no file ${path}`);
  return path;
}

async function digest(path) {
  const hash = createHash('blake2b512');
  await pipeline(createReadStream(path), hash);
  return hash.read();
}

async function check(name) {
  const path = await inFolder(name);
  const s = signature(await readFile(await inFolder(`${name}.minisig`), 'utf8'));
  const signer = (await trusted()).find((k) => timingSafeEqual(k.id, s.id));
  if (!signer) return `NOT VERIFIED: ${name} is signed by key ${shown(s.id)}, which is not trusted.`;
  if (!s.hashed && (await lstat(path)).size > LEGACY_LIMIT) throw new Error(`${path} is too large for a signature of the old kind`);
  if (!verify(null, s.hashed ? await digest(path) : await readFile(path), signer.key, s.sig)) return `BAD: ${name} is not what ${signer.name} signed.`;
  if (!verify(null, Buffer.concat([s.sig, Buffer.from(s.comment)]), signer.key, s.whole)) return `BAD: the trusted comment of ${name} was changed.`;
  return `Good: ${name}, signed by ${signer.name} (${shown(s.id)}): ${s.comment}`;
}

const readOnly = { readOnlyHint: true, openWorldHint: false };

server.tool('verify_file', `Verifies a file in ${folder} by its minisign signature beside it and the trusted keys.`, { required: { file: { type: 'string', examples: ['tool-1.4.tar.gz'] } }, annotations: readOnly }, ({ file }) => check(file));

server.tool('verify_all', `Verifies every file in ${folder} that has a minisign signature.`, { annotations: readOnly }, async () => {
  const names = (await readdir(folder).catch((error) => { throw new Error(`${folder}: ${error.code}`); })).filter((n) => n.endsWith('.minisig')).map((n) => n.slice(0, -8)).slice(0, 200);
  const lines = [];
  for (const name of names) lines.push(await check(name).catch((error) => `NOT VERIFIED: ${name}: ${error.message}`));
  return lines.join('\n') || 'No file has a signature.';
});

server.tool('list_keys', 'Lists the minisign public keys that are trusted.', { annotations: readOnly }, async () => (await trusted()).map((k) => `${k.name}  ${shown(k.id)}`).join('\n') || `No keys are trusted; trust_key adds one to ${keys}.`);

server.tool('trust_key', `Adds a minisign public key to the trusted ones in ${keys}. Compare it with what the publisher shows before. A name that is taken is refused.`, {
  required: { name: { type: 'string', pattern: '^[a-z0-9][a-z0-9-]{0,39}$', examples: ['publisher'] }, key: { type: 'string', description: 'the line that begins with RW', examples: ['RWQf6LRCGA9i53mlYecO4IzT51TGPpvWucNSCh1CBM0QTaLn73Y7GFO3'] } },
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
}, async ({ name, key }) => {
  if (!/^[a-z0-9][a-z0-9-]{0,39}$/.test(name)) throw new Error('name is lower-case letters, digits and hyphens');
  const { id } = publicKey(key.slice(0, 1000));
  const path = join(keys, `${name}.pub`);
  await mkdir(keys, { recursive: true, mode: 0o700 });
  await writeFile(path, `untrusted comment: minisign public key ${shown(id)}\n${key.trim().split(/\r?\n/).at(-1)}\n`, { flag: 'wx' })
    .catch((error) => { throw new Error(error.code === 'EEXIST' ? `there is a key of that name: ${path}` : `${path}: ${error.code}`); });
  return `Trusted ${shown(id)} as ${name}.`;
});

server.run();
