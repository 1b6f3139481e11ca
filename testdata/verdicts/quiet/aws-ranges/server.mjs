#!/usr/bin/env node
// aws-ranges: whose address is this? Answers from https://ip-ranges.amazonaws.com/ip-ranges.json.
//
// The list is downloaded only by the tool refresh_ranges and kept in ~/.cache/aws-ranges with its ETag. Until then the
// small snapshot that comes with this server is used.
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { BlockList, isIP } from 'node:net';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { Server } from './mcp.mjs';

const SOURCE = 'https://ip-ranges.amazonaws.com/ip-ranges.json';
const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'aws-ranges');
const FILE = join(CACHE, 'ip-ranges.json');
const MOST = 20_000_000;

function ranges(list) {
  if (!Array.isArray(list?.prefixes) || !Array.isArray(list?.ipv6_prefixes)) throw new Error('this is not a list of AWS ranges');
  return [...list.prefixes, ...list.ipv6_prefixes].flatMap((p) => {
    const prefix = p.ip_prefix ?? p.ipv6_prefix;
    const [address, bits] = String(prefix).split('/');
    const family = isIP(address);
    if (!family || !/^\d{1,3}$/.test(bits) || Number(bits) > (family === 4 ? 32 : 128)) return [];
    return [{ prefix, address, bits: Number(bits), family: `ipv${family}`, region: String(p.region), service: String(p.service) }];
  });
}

let current; // { origin, created, etag, ranges }

function adopt(origin, list, etag) {
  current = { origin, created: String(list.createDate), etag, ranges: ranges(list) };
}

try {
  const { etag, list } = JSON.parse(readFileSync(FILE, 'utf8'));
  adopt('cache', list, etag);
} catch {
  adopt('bundled snapshot', JSON.parse(readFileSync(new URL('./snapshot.json', import.meta.url), 'utf8')));
}

const contains = (range, address, family) => {
  if (range.family !== family) return false;
  const block = new BlockList();
  block.addSubnet(range.address, range.bits, range.family);
  return block.check(address, family);
};

const source = () => ({ from: current.origin, created: current.created });
const brief = ({ prefix, region, service }) => ({ prefix, region, service });
const local = { annotations: { readOnlyHint: true, openWorldHint: false } };
const region = { type: 'string', pattern: '^[A-Za-z0-9-]{2,30}$', examples: ['eu-central-1', 'GLOBAL'] };
const service = { type: 'string', pattern: '^[A-Z0-9_]{2,40}$', examples: ['S3', 'CLOUDFRONT'] };

const server = new Server('aws-ranges', {
  version: '1.1.0',
  instructions: 'Answers from a bundled snapshot, or from the list of Amazon once refresh_ranges has downloaded it to ~/.cache/aws-ranges. Needs no AWS account.',
});

server.tool('find_address', 'Finds the AWS ranges that hold an IP address, smallest first. Looks in the local list only; the address is sent nowhere.',
  { required: { address: { type: 'string', maxLength: 45, description: 'IPv4 or IPv6 address', examples: ['52.218.10.1', '2a05:d014::1'] } }, ...local }, ({ address }) => {
    const version = isIP(address);
    if (!version || address.includes('%')) throw new Error(`${JSON.stringify(address.slice(0, 50))} is not an IP address`);
    const found = current.ranges.filter((r) => contains(r, address, `ipv${version}`)).sort((a, b) => b.bits - a.bits);
    return { aws: found.length > 0, ranges: found.map(brief), source: source() };
  });

server.tool('list_ranges', 'Lists ranges by region, service or both, from the local list.',
  { optional: { region, service, limit: { type: 'integer', minimum: 1, maximum: 1000, default: 100 } }, ...local }, ({ region, service, limit = 100 }) => {
    if (limit < 1 || limit > 1000) throw new RangeError('limit is from 1 to 1000');
    const found = current.ranges.filter((r) => (!region || r.region === region) && (!service || r.service === service));
    return { count: found.length, ranges: found.slice(0, limit).map(brief), source: source() };
  });

server.tool('count_ranges', 'Counts the ranges of the local list by region or by service.',
  { required: { by: { type: 'string', enum: ['region', 'service'] } }, ...local }, ({ by }) => {
    if (by !== 'region' && by !== 'service') throw new Error('by is region or service');
    const counts = new Map();
    for (const r of current.ranges) counts.set(r[by], (counts.get(r[by]) ?? 0) + 1);
    return Object.fromEntries([...counts].sort((a, b) => b[1] - a[1]));
  });

server.tool('refresh_ranges', `Downloads the list from ${SOURCE} if it has changed, and keeps it in ~/.cache/aws-ranges/ip-ranges.json for the other tools and the next start.`,
  { annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true } }, async () => {
    const headers = { 'User-Agent': 'aws-ranges-mcp/1.1.0', Accept: 'application/json' };
    if (current.etag) headers['If-None-Match'] = current.etag;
    let response;
    try {
      response = await fetch(SOURCE, { headers, redirect: 'error', signal: AbortSignal.timeout(20_000) });
    } catch (error) {
      throw new Error(`Amazon cannot be reached: ${error.cause?.code ?? error.message}`);
    }
    if (response.status === 304) return { changed: false, source: source() };
    if (!response.ok) throw new Error(`Amazon answered ${response.status}`);
    const text = await response.text();
    if (text.length > MOST) throw new Error('the list is too long');
    let list;
    try { list = JSON.parse(text); } catch { throw new Error('the answer is not JSON'); }
    ranges(list); // throws before anything is kept
    const etag = response.headers.get('etag') ?? undefined;
    mkdirSync(CACHE, { recursive: true });
    writeFileSync(`${FILE}.new`, JSON.stringify({ etag, list }));
    renameSync(`${FILE}.new`, FILE);
    adopt('download', list, etag);
    return { changed: true, ranges: current.ranges.length, source: source() };
  });

server.run();
