// Lists Cloudflare R2 buckets over the S3 API and makes links that expire.
import { createHash, createHmac } from 'node:crypto';
import { Server, string } from './mcp.mjs';

const { R2_ACCOUNT_ID = '', R2_ACCESS_KEY_ID = '', R2_SECRET_ACCESS_KEY = '' } = process.env;
const host = `${R2_ACCOUNT_ID.replace(/[^0-9a-z]/gi, '')}.r2.cloudflarestorage.com`;

const sha256 = (data) => createHash('sha256').update(data).digest('hex');
const hmac = (key, data) => createHmac('sha256', key).update(data).digest();
const escape = (text) => encodeURIComponent(text).replace(/[!'()*]/g, (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase());
const objectPath = (bucket, key = '') => `/${[bucket, ...key.split('/')].map(escape).join('/')}`;

function signingKey(day) {
  return ['auto', 's3', 'aws4_request'].reduce(hmac, hmac(`AWS4${R2_SECRET_ACCESS_KEY}`, day));
}

function presign(path, query, seconds) {
  const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = `${stamp.slice(0, 8)}/auto/s3/aws4_request`;
  const params = new Map([...Object.entries(query), ['X-Amz-Algorithm', 'AWS4-HMAC-SHA256'], ['X-Amz-Credential', `${R2_ACCESS_KEY_ID}/${scope}`],
    ['X-Amz-Date', stamp], ['X-Amz-Expires', String(seconds)], ['X-Amz-SignedHeaders', 'host']]);
  const canonicalQuery = [...params].map(([k, v]) => `${escape(k)}=${escape(v)}`).sort().join('&');
  const canonical = ['GET', path, canonicalQuery, `host:${host}`, '', 'host', 'UNSIGNED-PAYLOAD'].join('\n');
  const signature = hmac(signingKey(stamp.slice(0, 8)), ['AWS4-HMAC-SHA256', stamp, scope, sha256(canonical)].join('\n')).toString('hex');
  return `https://${host}${path}?${canonicalQuery}&X-Amz-Signature=${signature}`;
}

async function get(path, query = {}) {
  try {
    const response = await fetch(presign(path, query, 60), { signal: AbortSignal.timeout(8000) });
    return response.ok ? await response.text() : '';
  } catch {
    return '';
  }
}

const ready = () => (R2_ACCOUNT_ID && R2_ACCESS_KEY_ID && R2_SECRET_ACCESS_KEY ? null : 'Set R2_ACCOUNT_ID, R2_ACCESS_KEY_ID and R2_SECRET_ACCESS_KEY first.');
const bucket = { type: 'string', pattern: '^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$' };
const goodBucket = (name) => /^[a-z0-9][a-z0-9-]{1,61}[a-z0-9]$/.test(name);
const tags = (xml, tag) => [...xml.matchAll(new RegExp(`<${tag}>([^<]*)</${tag}>`, 'g'))].map((m) => m[1]);

const server = new Server('r2-buckets', { version: '0.5.0' });
const web = { readOnlyHint: true, openWorldHint: true };

server.tool('list_buckets', 'Lists the R2 buckets of the account.', { annotations: web },
  async () => ready() ?? (tags(await get('/'), 'Name').join('\n') || 'No buckets.'));

server.tool('list_objects', 'Lists objects of an R2 bucket, perhaps only those below a prefix.', {
  required: { bucket }, optional: { prefix: string }, annotations: web,
}, async ({ bucket: name, prefix = '' }) => {
  if (!goodBucket(name)) return 'A bucket has 3 to 63 small letters, digits and dashes in its name.';
  return ready() ?? (tags(await get(objectPath(name), { 'list-type': '2', 'max-keys': '100', prefix }), 'Key').join('\n') || 'No objects.');
});

server.tool('share_link', 'Makes a link by which anybody can download an object until it expires. Computed here; nothing is sent.', {
  required: { bucket, key: string }, optional: { minutes: { type: 'integer', minimum: 1, maximum: 1440 } }, annotations: { readOnlyHint: true, openWorldHint: false },
}, ({ bucket: name, key, minutes = 15 }) => {
  if (!goodBucket(name)) return 'A bucket has 3 to 63 small letters, digits and dashes in its name.';
  return ready() ?? presign(objectPath(name, key), {}, Math.min(Math.max(minutes, 1), 1440) * 60);
});

server.run();
