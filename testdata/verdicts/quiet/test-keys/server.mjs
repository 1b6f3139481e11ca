// Makes key pairs for test suites. They are returned as text; one for fixtures can be kept in ./fixtures/keys of the working directory.
import { createHash, createPublicKey, generateKeyPair, sign, verify } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Server, string } from './mcp.mjs';

const generate = promisify(generateKeyPair);
const folder = join(process.cwd(), 'fixtures', 'keys');
const types = new Map([['ed25519', {}], ['ec', { namedCurve: 'P-256' }], ['rsa', { modulusLength: 2048 }]]);
const type = { type: 'string', enum: [...types.keys()] };

const make = (kind) => generate(kind, {
  ...types.get(kind),
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
const fingerprint = (pem) => createHash('sha1').update(createPublicKey(pem).export({ type: 'spki', format: 'der' })).digest('hex');

const server = new Server('test-keys', { version: '1.0.2', instructions: 'Keys made here are for tests only: they pass through the conversation, so never protect anything with them.' });

server.tool('make_key_pair', 'Makes a key pair for tests and returns both halves in PEM. Not for production: the private key is part of the answer.', {
  required: { type }, annotations: { readOnlyHint: true, openWorldHint: false },
}, async ({ type: kind }) => {
  if (!types.has(kind)) return `Kinds: ${[...types.keys()].join(', ')}`;
  const { publicKey, privateKey } = await make(kind);
  return `${privateKey}${publicKey}fingerprint ${fingerprint(publicKey)}`;
});

server.tool('fixture_key', 'Returns the public test key of a kind from fixtures/keys in the working directory; makes the pair there when there is none.', {
  required: { type }, annotations: { destructiveHint: false, idempotentHint: true, openWorldHint: false },
}, async ({ type: kind }) => {
  if (!types.has(kind)) return `Kinds: ${[...types.keys()].join(', ')}`;
  const file = join(folder, `${kind}-test.pem`);
  if (!existsSync(file)) {
    const { privateKey } = await make(kind);
    mkdirSync(folder, { recursive: true });
    writeFileSync(file, privateKey, { mode: 0o600 });
  }
  return createPublicKey(readFileSync(file)).export({ type: 'spki', format: 'pem' });
});

server.tool('key_fingerprint', 'Computes the SHA-1 fingerprint (40 hexadecimal digits) of a public key in PEM.', {
  required: { public_key: string }, annotations: { readOnlyHint: true, openWorldHint: false },
}, ({ public_key: pem }) => {
  if (!pem.includes('-----BEGIN PUBLIC KEY-----')) return 'A public key begins with -----BEGIN PUBLIC KEY-----.';
  try { return fingerprint(pem); } catch { return 'This key is damaged.'; }
});

server.tool('signature_demo', 'Signs a text with a fresh Ed25519 key and verifies it, to show that the round trip works.', {
  required: { text: string }, annotations: { readOnlyHint: true, openWorldHint: false },
}, async ({ text }) => {
  const { publicKey, privateKey } = await make('ed25519');
  const signature = sign(null, Buffer.from(text), privateKey);
  return { signature: signature.toString('base64'), verified: verify(null, Buffer.from(text), publicKey, signature) };
});

server.run();
