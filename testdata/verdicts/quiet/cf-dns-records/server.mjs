#!/usr/bin/env node
// DNS records of Cloudflare zones. Needs CLOUDFLARE_API_TOKEN with Zone:Read and DNS:Edit.
import { createInterface } from 'node:readline';
import { open } from 'node:fs/promises';
import { isIPv4, isIPv6 } from 'node:net';

const BASE = 'https://api.cloudflare.com/client/v4';
const TYPES = ['A', 'AAAA', 'CNAME', 'TXT', 'MX', 'NS'];
const HOST = /^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,61}[a-z0-9])?\.)*[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.?$/i;
const zoneIds = new Map();

async function cf(path, init = {}, asText = false) {
  const token = process.env.CLOUDFLARE_API_TOKEN;
  if (!token) throw new Error('CLOUDFLARE_API_TOKEN is not set. Make one at https://dash.cloudflare.com/profile/api-tokens');
  let response;
  try {
    response = await fetch(BASE + path, { ...init, headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }, redirect: 'error', signal: AbortSignal.timeout(15000) });
  } catch (e) {
    throw new Error(`api.cloudflare.com: ${e.cause?.message ?? e.message}`);
  }
  if (asText && response.ok) return response.text();
  const data = await response.json().catch(() => null);
  if (!data?.success) throw new Error(`${init.method ?? 'GET'} ${path}: ${data?.errors?.map((e) => `${e.code} ${e.message}`).join('; ') || response.status}`);
  return data;
}

async function zoneId(zone) {
  const name = zone.toLowerCase().replace(/\.$/, '');
  if (!zoneIds.has(name)) {
    const { result } = await cf(`/zones?${new URLSearchParams({ name })}`);
    if (!result?.length) throw new Error(`no zone ${name} with this token`);
    zoneIds.set(name, result[0].id);
  }
  return encodeURIComponent(zoneIds.get(name));
}

// What Cloudflare would refuse, and what is accepted but does not work.
function problems({ type, name, content, proxied }) {
  const found = [];
  if (!TYPES.includes(type)) found.push(`type is one of ${TYPES.join(', ')}`);
  if (name !== '@' && !HOST.test(name)) found.push(`${name} is no host name`);
  if (type === 'A' && !isIPv4(content)) found.push(`${content} is no IPv4 address`);
  if (type === 'AAAA' && !isIPv6(content)) found.push(`${content} is no IPv6 address`);
  if (['CNAME', 'NS'].includes(type) && !HOST.test(content)) found.push(`${content} is no host name`);
  if (type === 'MX' && !/^\d+ \S+$/.test(content)) found.push('an MX record is a priority and a host, as in "10 mail.example.com"');
  if (type === 'TXT' && /^v=spf1/.test(content) && !/[~?-]all$|redirect=/.test(content)) found.push('the SPF record has no ending such as -all');
  if (type === 'TXT' && content.length > 2048) found.push('a TXT record has 2048 characters at most');
  if (proxied && !['A', 'AAAA', 'CNAME'].includes(type)) found.push(`a ${type} record cannot be proxied`);
  return found;
}

const str = (description) => ({ type: 'string', ...(description && { description }) });
const record = { type: { type: 'string', enum: TYPES }, name: str('Full name, or @ for the zone itself'), content: str() };
const tools = {
  list_zones: [{ description: 'Lists the zones that the token can see.', annotations: { readOnlyHint: true }, properties: {} }, async () =>
    (await cf('/zones?per_page=50')).result.map((z) => `${z.name}  ${z.status}  ${z.plan?.name ?? ''}`).join('\n') || 'No zones.'],

  list_records: [{ description: 'Lists the DNS records of a zone.', annotations: { readOnlyHint: true }, properties: { zone: str(), type: record.type }, required: ['zone'] }, async ({ zone, type }) => {
    const query = new URLSearchParams({ per_page: '500', ...(type && { type }) });
    const { result } = await cf(`/zones/${await zoneId(zone)}/dns_records?${query}`);
    return result.map((r) => `${r.type.padEnd(5)} ${r.name}  ${r.content}  ttl ${r.ttl === 1 ? 'auto' : r.ttl}${r.proxied ? '  proxied' : ''}`).join('\n') || 'No records.';
  }],

  set_record: [{
    description: 'Creates a DNS record at Cloudflare, or replaces the content of the one record that has this name and type. What is left out stays as it is.',
    annotations: { destructiveHint: true, idempotentHint: true }, properties: { zone: str(), ...record, ttl: { type: 'integer', minimum: 60 }, proxied: { type: 'boolean' } }, required: ['zone', 'type', 'name', 'content'],
  }, async ({ zone, type, name, content, ttl, proxied }) => {
    const wrong = problems({ type, name, content, proxied });
    if (wrong.length) throw new Error(wrong.join('\n'));
    const [id, full] = [await zoneId(zone), name === '@' ? zone : name];
    const { result } = await cf(`/zones/${id}/dns_records?${new URLSearchParams({ type, name: full })}`);
    if (result.length > 1) throw new Error(`${full} has ${result.length} ${type} records; change them in the dashboard`);
    const [priority, target] = type === 'MX' ? content.split(' ') : [undefined, content];
    const body = JSON.stringify({ type, name: full, content: target, ttl: ttl ?? result[0]?.ttl ?? 1, ...(priority && { priority: Number(priority) }), ...(['A', 'AAAA', 'CNAME'].includes(type) && { proxied: proxied ?? result[0]?.proxied ?? false }) });
    await cf(`/zones/${id}/dns_records${result.length ? `/${encodeURIComponent(result[0].id)}` : ''}`, { method: result.length ? 'PUT' : 'POST', body });
    return result.length ? `${type} ${full}: ${result[0].content} is now ${content}` : `${type} ${full}: ${content} is new`;
  }],

  export_zone: [{
    description: 'Saves a zone in BIND format to a new file ZONE.zone in the working directory.', annotations: { destructiveHint: false }, properties: { zone: str() }, required: ['zone'],
  }, async ({ zone }) => {
    if (!HOST.test(zone) || zone.startsWith('*')) throw new Error(`${zone} is no zone`);
    const text = await cf(`/zones/${await zoneId(zone)}/dns_records/export`, {}, true);
    const file = await open(`${zone.toLowerCase()}.zone`, 'wx');
    await file.writeFile(text).finally(() => file.close());
    return `${zone.toLowerCase()}.zone: ${text.split('\n').length} lines`;
  }],

  check_record: [{ description: 'Checks a DNS record for common mistakes. Needs neither network nor token.', annotations: { readOnlyHint: true, openWorldHint: false }, properties: { ...record, proxied: { type: 'boolean' } }, required: ['type', 'name', 'content'] },
    async (args) => problems(args).join('\n') || 'Nothing is wrong with it.'],
};

const ok = { string: (v) => typeof v === 'string', integer: Number.isInteger, boolean: (v) => typeof v === 'boolean' };
async function callTool({ name, arguments: given }) {
  const [{ properties, required = [] }, run] = tools[name];
  const args = given ?? {};
  try {
    const wrong = [...required.filter((k) => !(k in args)), ...Object.keys(args).filter((k) => Object.hasOwn(properties, k) && !ok[properties[k].type](args[k]))];
    if (wrong.length) throw new Error(`missing or wrong: ${wrong.join(', ')}`);
    return { content: [{ type: 'text', text: await run(args) }] };
  } catch (e) {
    return { content: [{ type: 'text', text: e.message }], isError: true };
  }
}

const methods = {
  initialize: (p) => ({ protocolVersion: p.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'cf-dns-records', title: 'Cloudflare DNS', version: '1.0.5' }, instructions: 'Reads and changes DNS at api.cloudflare.com with CLOUDFLARE_API_TOKEN.' }),
  ping: () => ({}),
  'tools/list': () => ({ tools: Object.entries(tools).map(([name, [{ properties, required = [], ...rest }]]) => ({ name, ...rest, inputSchema: { type: 'object', properties, required } })) }),
  'tools/call': (p) => callTool(p),
};

createInterface({ input: process.stdin }).on('line', async (line) => {
  let request;
  try { request = JSON.parse(line); } catch { return; }
  if (request?.id === undefined) return;
  const { id, method } = request;
  const params = request.params ?? {};
  const known = Object.hasOwn(methods, method) && (method !== 'tools/call' || Object.hasOwn(tools, params.name));
  const outcome = known ? { result: await methods[method](params) } : { error: { code: method === 'tools/call' ? -32602 : -32601, message: 'unknown' } };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }));
});
