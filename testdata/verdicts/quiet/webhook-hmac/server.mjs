// webhook-hmac: why does this webhook's signature not fit? For GitHub, Stripe and Slack.
// The secret is an argument or WEBHOOK_SECRET (or a line of ./.env with that name), and is never shown.
import { createHmac, timingSafeEqual } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Server, string } from './mcp.mjs';

const TOLERANCE = 300; // seconds, as Stripe and Slack advise

function defaultSecret() {
  if (process.env.WEBHOOK_SECRET) return process.env.WEBHOOK_SECRET;
  try {
    return /^\s*(?:export\s+)?WEBHOOK_SECRET\s*=\s*(["']?)(.*?)\1\s*$/m.exec(readFileSync('.env', 'utf8'))?.[2];
  } catch {
    return undefined;
  }
}

const secretOf = (given) => given || defaultSecret() || (() => { throw new Error('No secret: give one, or set WEBHOOK_SECRET.'); })();
const mac = (secret, text) => createHmac('sha256', secret).update(text).digest('hex');
const same = (a, b) => { const [x, y] = [Buffer.from(a), Buffer.from(b)]; return x.length === y.length && timingSafeEqual(x, y); };
const fresh = (stamp, now) => Number.isFinite(stamp) && Math.abs(now - stamp) <= TOLERANCE;

const providers = {
  github: {
    sign: (secret, body) => ({ 'X-Hub-Signature-256': `sha256=${mac(secret, body)}` }),
    verify: (secret, body, header) => (same(header.trim(), `sha256=${mac(secret, body)}`) ? [] : ['the signature does not fit the body']),
  },
  stripe: {
    sign: (secret, body, now) => ({ 'Stripe-Signature': `t=${now},v1=${mac(secret, `${now}.${body}`)}` }),
    verify: (secret, body, header, _, now) => {
      const parts = header.split(',').map((p) => p.trim().split('='));
      const stamp = parts.find(([k]) => k === 't')?.[1];
      const signatures = parts.filter(([k]) => k === 'v1').map(([, v = '']) => v);
      if (!stamp || !signatures.length) return ['the header lacks t= or v1='];
      return [!signatures.some((s) => same(s, mac(secret, `${stamp}.${body}`))) && 'no v1 signature fits the body', !fresh(Number(stamp), now) && `t=${stamp} is more than ${TOLERANCE} seconds off`].filter(Boolean);
    },
  },
  slack: {
    sign: (secret, body, now) => ({ 'X-Slack-Request-Timestamp': String(now), 'X-Slack-Signature': `v0=${mac(secret, `v0:${now}:${body}`)}` }),
    verify: (secret, body, header, timestamp, now) => {
      if (!timestamp) return ['X-Slack-Request-Timestamp is needed as timestamp'];
      return [!same(header.trim(), `v0=${mac(secret, `v0:${timestamp}:${body}`)}`) && 'the signature does not fit the body', !fresh(Number(timestamp), now) && 'the timestamp is too old or in the future'].filter(Boolean);
    },
  },
};

// The usual reasons, each tried as a correction of the body.
const guesses = [
  ['the body were compact JSON: it may have been parsed and formatted on the way', (b) => JSON.stringify(JSON.parse(b))],
  ['the body were indented JSON: it may have been parsed and packed on the way', (b) => JSON.stringify(JSON.parse(b), null, 2)],
  ['the body did not end with a line end', (b) => b.replace(/\r?\n$/, '')],
  ['the body ended with a line end', (b) => `${b}\n`],
  ['line ends were CRLF, not LF', (b) => b.replace(/\r?\n/g, '\r\n')],
];

const server = new Server('webhook-hmac', { version: '2.1.0', instructions: 'Without a secret argument, WEBHOOK_SECRET of the environment or of .env in the working folder is used. It is only used to compute signatures.' });
const provider = { ...string, enum: Object.keys(providers) };
const body = { ...string, description: 'the raw body of the request, byte for byte' };
const secret = { ...string, description: 'the signing secret; WEBHOOK_SECRET if left out' };
const annotations = { readOnlyHint: true, openWorldHint: false };
const known = (name) => { if (!Object.hasOwn(providers, name)) throw new Error(`Providers: ${Object.keys(providers).join(', ')}`); return providers[name]; };

server.tool('verify_signature', "Verifies a webhook's signature header against its body, and if it does not fit tries the usual reasons.", {
  required: { provider, body, signature: { ...string, description: 'value of X-Hub-Signature-256, Stripe-Signature or X-Slack-Signature' } }, optional: { timestamp: { ...string, description: 'X-Slack-Request-Timestamp' }, secret }, annotations,
}, (args) => {
  const [how, key, now] = [known(args.provider), secretOf(args.secret), Math.floor(Date.now() / 1000)];
  const problems = how.verify(key, args.body, args.signature, args.timestamp, now);
  if (!problems.length) return 'Valid.';
  const reasons = guesses.filter(([, fix]) => { try { return how.verify(key, fix(args.body), args.signature, args.timestamp, now).length < problems.length; } catch { return false; } });
  return [`Not valid: ${problems.join('; ')}.`, ...reasons.map(([reason]) => `It would fit if ${reason}.`)].join('\n');
});

server.tool('sign_sample', 'Makes the signature headers that a provider would send with a body, for a test of an own endpoint.', { required: { provider, body }, optional: { secret }, annotations }, (args) => {
  const headers = known(args.provider).sign(secretOf(args.secret), args.body, Math.floor(Date.now() / 1000));
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`).join('\n');
});

server.run();
