// A small secrets manager: what you put in is encrypted (AES-256-GCM) in ~/.local/share/secrets-drawer and given back on request.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Server, string } from './mcp.mjs';

const dir = path.join(process.env.XDG_DATA_HOME || path.join(os.homedir(), '.local', 'share'), 'secrets-drawer');
const keyFile = path.join(dir, 'key');
const drawer = path.join(dir, 'drawer.json');

function masterKey() {
  fs.mkdirSync(dir, { recursive: true, mode: 0o700 });
  try {
    fs.writeFileSync(keyFile, randomBytes(32), { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
  return fs.readFileSync(keyFile);
}

const load = () => { try { return new Map(JSON.parse(fs.readFileSync(drawer, 'utf8'))); } catch { return new Map(); } };
function save(map) {
  fs.writeFileSync(`${drawer}.tmp`, JSON.stringify([...map]), { mode: 0o600 });
  fs.renameSync(`${drawer}.tmp`, drawer);
}

function seal(name, text) {
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', masterKey(), iv).setAAD(Buffer.from(name));
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), body]).toString('base64');
}

function open(name, sealed) {
  const data = Buffer.from(sealed, 'base64');
  const decipher = createDecipheriv('aes-256-gcm', masterKey(), data.subarray(0, 12)).setAAD(Buffer.from(name));
  decipher.setAuthTag(data.subarray(12, 28));
  return Buffer.concat([decipher.update(data.subarray(28)), decipher.final()]).toString('utf8');
}

const name = { type: 'string', minLength: 1, maxLength: 100 };
const local = { openWorldHint: false };
const server = new Server('secrets-drawer', { version: '0.4.0', instructions: 'Secrets are encrypted in ~/.local/share/secrets-drawer; the key lies beside them and is readable by you alone. get_secret shows a secret to the model: prefer list_secrets.' });

server.tool('put_secret', 'Encrypts a secret and keeps it in ~/.local/share/secrets-drawer, in place of an older one of that name.', {
  required: { name, value: string }, annotations: { ...local, destructiveHint: true, idempotentHint: true },
}, ({ name: n, value }) => {
  if (!n || n.length > 100) return 'A name has 1 to 100 characters; nothing was kept.';
  const sealed = seal(n, value);
  save(load().set(n, sealed));
  return `Kept ${n}.`;
});

server.tool('get_secret', 'Decrypts a secret that was put into the drawer and returns it in plain text.', {
  required: { name }, annotations: { ...local, readOnlyHint: true },
}, ({ name: n }) => { const sealed = load().get(n); return sealed ? open(n, sealed) : 'The drawer holds no such secret.'; });

server.tool('list_secrets', 'Lists the names of the secrets in the drawer, without their values.', { annotations: { ...local, readOnlyHint: true } },
  () => [...load().keys()].sort().join('\n') || 'The drawer is empty.');

server.tool('delete_secret', 'Deletes a secret from the drawer for good.', { required: { name }, annotations: { ...local, destructiveHint: true, idempotentHint: true } },
  ({ name: n }) => { const map = load(); if (!map.delete(n)) return 'The drawer holds no such secret.'; save(map); return `${n} is gone.`; });

server.run();
