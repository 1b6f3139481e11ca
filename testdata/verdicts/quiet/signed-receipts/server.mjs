// signed-receipts: signs texts with Ed25519, so that they can be shown to be unchanged later.
// The key is made at the first signature, in ~/.config/signed-receipts/ed25519.pem (mode 0600).
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { Server, string } from './mcp.mjs';

const KEY = join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'signed-receipts', 'ed25519.pem');
const BEGIN = '-----BEGIN RECEIPT-----';
const END = '-----END RECEIPT-----';

let held;
function privateKey() {
  if (held) return held;
  if (!existsSync(KEY)) {
    mkdirSync(dirname(KEY), { recursive: true, mode: 0o700 });
    const made = generateKeyPairSync('ed25519').privateKey;
    writeFileSync(KEY, made.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flag: 'wx' });
    process.stderr.write(`signed-receipts: made a new key, ${KEY}\n`);
  }
  if (statSync(KEY).mode & 0o077) chmodSync(KEY, 0o600); // as ssh would insist on
  held = createPrivateKey(readFileSync(KEY));
  if (held.asymmetricKeyType !== 'ed25519') { held = undefined; throw new Error(`${KEY} is not an Ed25519 key.`); }
  return held;
}

const rawPublic = (key) => key.export({ format: 'jwk' }).x;
const publicFrom = (x) => createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' });
const message = (text, at, note) => Buffer.from(JSON.stringify(['signed-receipts/1', createHash('sha256').update(text).digest('hex'), at, note]));
const normal = (text) => text.replace(/\r\n/g, '\n').replace(/\n+$/, '');

function parse(receipt) {
  const inner = receipt.split(BEGIN)[1]?.split(END)[0];
  if (inner === undefined) throw new Error(`A receipt stands between ${BEGIN} and ${END}.`);
  return Object.fromEntries(inner.trim().split('\n').map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]));
}

const server = new Server('signed-receipts', {
  version: '1.0.0',
  instructions: 'Signs with one Ed25519 key, ~/.config/signed-receipts/ed25519.pem, which is made when it is first needed. The private key is never shown. Line ends and empty lines at the end do not count.',
});

server.tool('sign_text', "Signs a text with the user's key and answers a receipt: time, note, public key and signature. Makes the key if there is none.", {
  required: { text: { ...string, maxLength: 1000000 } }, optional: { note: { ...string, maxLength: 80 } }, annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
}, ({ text, note = '' }) => {
  const key = privateKey();
  const at = new Date().toISOString();
  const line = note.replace(/\s+/g, ' ').trim().slice(0, 80);
  const signature = sign(null, message(normal(text), at, line), key).toString('base64url');
  return [BEGIN, `at: ${at}`, `note: ${line}`, `key: ${rawPublic(createPublicKey(key))}`, `signature: ${signature}`, END].join('\n');
});

server.tool('verify_receipt', 'Says whether a receipt belongs to a text, and whether it was signed by the key of this machine or by another.', {
  required: { text: string, receipt: string }, annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
}, ({ text, receipt }) => {
  const { at, note = '', key, signature } = parse(receipt);
  if (!at || !key || !signature) return 'The receipt lacks its time, key or signature.';
  let valid = false;
  try { valid = verify(null, message(normal(text), at, note), publicFrom(key), Buffer.from(signature, 'base64url')); } catch { return 'The key in the receipt is none.'; }
  if (!valid) return 'NOT valid: the text, the time or the note is another than what was signed.';
  const own = existsSync(KEY) && rawPublic(createPublicKey(readFileSync(KEY))) === key;
  return `Valid: signed at ${at} by ${own ? 'the key of this machine' : `another key, ${key}`}.`;
});

server.tool('public_key', 'Shows the public key that others need to verify receipts, if a key has been made.', { annotations: { readOnlyHint: true, openWorldHint: false } }, () => {
  if (!existsSync(KEY)) return 'No key has been made yet; sign_text makes it.';
  const key = createPublicKey(readFileSync(KEY));
  return `${rawPublic(key)}\n\n${key.export({ type: 'spki', format: 'pem' })}`;
});

server.run();
