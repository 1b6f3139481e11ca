import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Server, string } from './mcp.mjs';

const folder = join(process.env.XDG_DATA_HOME || join(homedir(), '.local', 'share'), 'sealed-notes');
const server = new Server('sealed-notes', { version: '1.0.0', instructions: 'Seals texts (AES-256-GCM) so that they can be kept anywhere, and opens them again on this machine. The key is made at first use and lies in ~/.local/share/sealed-notes/key.' });

const file = join(folder, 'key');
const known = () => { try { return readFileSync(file); } catch { return null; } };

function key() {
  const old = known();
  if (old) return old;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  writeFileSync(file, randomBytes(32), { mode: 0o600, flag: 'wx' });
  return readFileSync(file);
}

server.tool('seal', 'Encrypts a text with this machine’s own key and returns the sealed text, which anybody may keep. Makes the key at first use.', {
  required: { text: { ...string, maxLength: 20000 } }, annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
}, ({ text }) => {
  const nonce = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key(), nonce);
  const sealed = Buffer.concat([cipher.update(text.slice(0, 20000), 'utf8'), cipher.final()]);
  return `sealed:${Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64')}`;
});

server.tool('unseal', 'Decrypts a text that seal returned on this machine.', {
  required: { sealed: { ...string, description: 'What seal returned, beginning with “sealed:”' } }, annotations: { readOnlyHint: true, openWorldHint: false },
}, ({ sealed }) => {
  const data = Buffer.from(sealed.replace(/^sealed:/, ''), 'base64');
  if (!sealed.startsWith('sealed:') || data.length < 28) return 'This is no sealed text.';
  const old = known();
  if (!old) return 'Nothing was sealed on this machine yet.';
  try {
    const opener = createDecipheriv('aes-256-gcm', old, data.subarray(0, 12));
    opener.setAuthTag(data.subarray(12, 28));
    return Buffer.concat([opener.update(data.subarray(28)), opener.final()]).toString('utf8');
  } catch {
    return 'It was sealed on another machine, or it was changed.';
  }
});
server.run();
