#!/usr/bin/env node
// file-signer: Ed25519 signatures for texts and for files in one folder.
//
//   server.mjs [FOLDER]          (~/Signed without FOLDER, made with a short note at the first start)
//
// The key pair is made at the first start in ~/.local/share/file-signer/key.pem, readable by you alone. The private key
// never leaves this process. A signature is written beside its file as NAME.sig; public keys that you trust are kept in
// ~/.local/share/file-signer/trusted.json.
import crypto from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Server, string } from './mcp.mjs';

const data = path.join(process.env.XDG_DATA_HOME || path.join(os.homedir(), '.local', 'share'), 'file-signer');
const keyFile = path.join(data, 'key.pem');
const trustedFile = path.join(data, 'trusted.json');
const LARGEST = 200 * 2 ** 20;

function ownKey() {
  if (!fs.existsSync(keyFile)) {
    fs.mkdirSync(data, { recursive: true, mode: 0o700 });
    const pem = crypto.generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
    fs.writeFileSync(keyFile, pem, { mode: 0o600, flag: 'wx' });
  }
  if (fs.statSync(keyFile).mode & 0o077) throw new Error(`others can read ${keyFile}; run chmod 600 on it`);
  return crypto.createPrivateKey(fs.readFileSync(keyFile));
}

function openFolder(given) {
  const folder = given ? path.resolve(given) : path.join(os.homedir(), 'Signed');
  if (!fs.existsSync(folder)) {
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(path.join(folder, 'welcome.txt'), 'Put files here that file-signer may sign.\n');
  }
  return fs.realpathSync(folder);
}

const privateKey = ownKey();
const publicKey = crypto.createPublicKey(privateKey);
const root = openFolder(process.argv[2]);

// Public keys are written as the 32 raw bytes in base64.
const write = (key) => Buffer.from(key.export({ format: 'jwk' }).x, 'base64url').toString('base64');
const fingerprint = (text) => crypto.createHash('sha256').update(Buffer.from(text, 'base64')).digest('hex').slice(0, 16).match(/.{4}/g).join('-');

function bytes(text, length, what) {
  const raw = Buffer.from(text, 'base64');
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(text) || raw.length !== length) throw new Error(`a ${what} is ${length} bytes in base64`);
  return raw;
}

const read = (text) => crypto.createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: bytes(text, 32, 'public key').toString('base64url') } });

function trusted() {
  return fs.existsSync(trustedFile) ? new Map(Object.entries(JSON.parse(fs.readFileSync(trustedFile, 'utf8')))) : new Map();
}

function signer(name) {
  if (name === undefined || name === 'me') return publicKey;
  const key = trusted().get(name);
  if (!key) throw new Error(`there is no trusted key ${JSON.stringify(name.slice(0, 60))}`);
  return read(key);
}

function content(name) {
  if (!/^[^/\\\0]{1,200}$/.test(name) || name.startsWith('.')) throw new Error(`${JSON.stringify(name.slice(0, 60))} is not the name of a file in the folder`);
  let handle;
  try {
    handle = fs.openSync(path.join(root, name), fs.constants.O_RDONLY | fs.constants.O_NOFOLLOW | fs.constants.O_NONBLOCK);
  } catch (error) {
    throw new Error(error.code === 'ELOOP' ? 'links are not followed' : `there is no file ${JSON.stringify(name.slice(0, 60))} in the folder`);
  }
  try {
    const info = fs.fstatSync(handle);
    if (!info.isFile() || info.size > LARGEST) throw new Error('only files of up to 200 MB');
    return fs.readFileSync(handle);
  } finally { fs.closeSync(handle); }
}

// What is signed: a prefix that says what it is, so that a signed text is never taken for a signed file.
const ofText = (text) => Buffer.concat([Buffer.from('file-signer text\0'), Buffer.from(text, 'utf8')]);
const ofFile = (raw) => Buffer.concat([Buffer.from('file-signer file\0'), crypto.createHash('sha512').update(raw).digest()]);

const server = new Server('file-signer', { version: '2.0.0', instructions: `Signs texts, and files directly in ${root}. The key is in ~/.local/share/file-signer and made at the first start, as is the folder with a short note.` });
const local = (readOnlyHint, destructiveHint = false) => ({ annotations: { readOnlyHint, destructiveHint, openWorldHint: false } });
const text = { ...string, maxLength: 200000, examples: ['I agree.'] };
const file = { ...string, maxLength: 200, description: 'Name of a file in the folder', examples: ['welcome.txt'] };
const by = { ...string, description: 'Name of a trusted key; without it the own key' };

server.tool('public_key', 'Shows the public key of this server and its fingerprint. The private key is never shown.', local(true), () => ({ 'public key': write(publicKey), fingerprint: fingerprint(write(publicKey)) }));

server.tool('sign_text', 'Signs a text with the key of this server and returns the signature in base64. Nothing is saved.', { required: { text }, ...local(true) }, ({ text }) => {
  if (text.length > 200_000) throw new Error('at most 200000 characters');
  return crypto.sign(null, ofText(text), privateKey).toString('base64');
});

server.tool('verify_text', 'Says whether a signature fits a text, for the own key or a trusted one.',
  { required: { text, signature: { ...string, maxLength: 88, examples: [Buffer.alloc(64, 7).toString('base64')] } }, optional: { by }, ...local(true) }, ({ text, signature, by: name }) => ({ valid: crypto.verify(null, ofText(text), signer(name), bytes(signature, 64, 'signature')) }));

server.tool('sign_file', 'Signs a file in the folder of this server and writes the signature beside it as NAME.sig, in place of an earlier one.', { required: { file }, annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false } }, ({ file }) => {
  if (file.endsWith('.sig')) throw new Error('this is a signature itself');
  const signature = crypto.sign(null, ofFile(content(file)), privateKey).toString('base64');
  const target = path.join(root, `${file}.sig`);
  const fresh = path.join(root, `.${crypto.randomUUID()}.new`);
  fs.writeFileSync(fresh, `${signature}\n`, { flag: 'wx' });
  fs.renameSync(fresh, target); // takes the place of a link, if someone put one there
  return { wrote: `${file}.sig`, signature };
});

server.tool('verify_file', 'Says whether NAME.sig fits a file in the folder, for the own key or a trusted one.', { required: { file }, optional: { by }, ...local(true) }, ({ file, by: name }) => {
  const signature = bytes(content(`${file}.sig`).subarray(0, 200).toString('latin1').trim(), 64, 'signature');
  return { valid: crypto.verify(null, ofFile(content(file)), signer(name), signature), by: name ?? 'me' };
});

server.tool('trust_key', 'Adds the public key of someone else under a name to ~/.local/share/file-signer/trusted.json. Refuses a name that is in use.',
  { required: { name: { ...string, pattern: '^[a-z][a-z0-9-]{0,39}$', examples: ['anna'] }, key: { ...string, maxLength: 44, description: '32 bytes in base64', examples: ['11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='] } }, ...local(false) }, ({ name, key }) => {
    if (!/^[a-z][a-z0-9-]{0,39}$/.test(name) || name === 'me') throw new Error('a name has small letters, digits and dashes, and is not me');
    read(key);
    const all = trusted();
    if (all.has(name)) throw new Error(`there is a trusted key ${name} already: ${fingerprint(all.get(name))}`);
    fs.writeFileSync(`${trustedFile}.new`, JSON.stringify(Object.fromEntries(all.set(name, key)), null, 1));
    fs.renameSync(`${trustedFile}.new`, trustedFile);
    return { name, fingerprint: fingerprint(key) };
  });

server.run();
