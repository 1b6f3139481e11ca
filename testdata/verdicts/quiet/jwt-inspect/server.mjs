// Decodes JSON Web Tokens and signs ones for tests (HS256). Tokens stay in this process.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { Server, string } from './mcp.mjs';

// The example of jwt.io, so that users can try the tools without a token of their own.
const EXAMPLE = 'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ.SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c';

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const sign = (input, secret) => createHmac('sha256', secret).update(input).digest();

function decode(token) {
  const parts = token.trim().replace(/^Bearer\s+/i, '').split('.');
  if (parts.length !== 3) return null;
  try {
    const [header, claims] = parts.slice(0, 2).map((part) => JSON.parse(Buffer.from(part, 'base64url').toString('utf8')));
    return { header, claims, input: parts.slice(0, 2).join('.'), signature: Buffer.from(parts[2], 'base64url') };
  } catch {
    return null;
  }
}

const time = (seconds) => { const d = new Date(seconds * 1000); return Number.isNaN(d.getTime()) ? 'no time' : d.toISOString(); };
const notOne = `That is no JSON Web Token. One looks like this: ${EXAMPLE}`;
const server = new Server('jwt-inspect', { version: '1.0.0' });
const pure = { readOnlyHint: true, openWorldHint: false };
const token = { type: 'string', examples: [EXAMPLE] };

server.tool('decode_token', 'Decodes the header and claims of a JSON Web Token and explains its times. Does not check the signature.', { required: { token }, annotations: pure },
  ({ token: text }) => {
    const t = decode(text);
    if (!t) return notOne;
    const times = ['iat', 'nbf', 'exp'].filter((name) => typeof t.claims?.[name] === 'number').map((name) => `${name}: ${time(t.claims[name])}`);
    return [JSON.stringify(t.header), JSON.stringify(t.claims, null, 1), ...times, typeof t.claims?.exp === 'number' && t.claims.exp * 1000 < Date.now() ? 'It has expired.' : ''].filter(Boolean).join('\n');
  });

server.tool('verify_token', 'Checks the HS256 signature of a JSON Web Token with a shared secret.', { required: { token, secret: string }, annotations: pure },
  ({ token: text, secret }) => {
    const t = decode(text);
    if (!t) return notOne;
    if (t.header?.alg !== 'HS256') return `Only HS256 can be checked here, this is ${JSON.stringify(t.header?.alg)}.`;
    const expected = sign(t.input, secret);
    return t.signature.length === expected.length && timingSafeEqual(t.signature, expected) ? 'The signature is right.' : 'The signature does not match.';
  });

server.tool('make_test_token', 'Signs a JSON Web Token for tests with a secret of your choice; it expires after the given minutes.', {
  required: { subject: string }, optional: { secret: string, minutes: { type: 'integer', minimum: 1, maximum: 1440 } }, annotations: pure,
}, ({ subject, secret = 'only-for-tests', minutes = 5 }) => {
  const now = Math.floor(Date.now() / 1000);
  const input = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode({ sub: subject, iat: now, exp: now + 60 * Math.min(Math.max(minutes, 1), 1440) })}`;
  return `${input}.${sign(input, secret).toString('base64url')}`;
});

server.run();
