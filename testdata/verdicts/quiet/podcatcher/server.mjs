#!/usr/bin/env node
// podcatcher FOLDER: the podcasts that PODCAST_FEEDS names (addresses with blanks between them).
// Feeds are kept with their ETags in ~/.cache/podcatcher, so that a publisher is asked for news only.
import { createHash } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { createWriteStream } from 'node:fs';
import { mkdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { BlockList } from 'node:net';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { Server } from './mcp.mjs';

const folder = resolve(process.argv[2] ?? 'podcasts');
const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'podcatcher');
const feeds = (process.env.PODCAST_FEEDS ?? '').split(/\s+/).filter(Boolean);
const LIMIT = 500 << 20;
const agent = { 'User-Agent': 'podcatcher/1.2' };
const server = new Server('podcatcher', { version: '1.2.0', instructions: `Subscribed feeds (PODCAST_FEEDS): ${feeds.join(', ') || 'none'}. Feeds are cached in ${cache}; episodes are downloaded to ${folder}.` });

const inner = new BlockList();
for (const [net, bits] of [['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16], ['172.16.0.0', 12], ['192.168.0.0', 16], ['224.0.0.0', 3]]) inner.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of [['::', 96], ['fc00::', 7], ['fe80::', 10], ['ff00::', 8]]) inner.addSubnet(net, bits, 'ipv6');

// get follows at most five redirects. A feed is someone else's text, so an address of the inner network is not asked.
async function get(address, headers = {}, timeout = 15000, trusted = false) {
  let url = new URL(address);
  for (let hop = 0; hop < 6; hop++) {
    if (!['https:', 'http:'].includes(url.protocol)) throw new Error(`${url.protocol} is not supported`);
    if (!trusted || hop) for (const { address: ip, family } of await lookup(url.hostname.replace(/^\[|\]$/g, ''), { all: true })) if (inner.check(ip, `ipv${family}`)) throw new Error(`${url.hostname} is in the inner network`);
    const response = await fetch(url, { headers: { ...agent, ...headers }, redirect: 'manual', signal: AbortSignal.timeout(timeout) });
    if (![301, 302, 303, 307, 308].includes(response.status)) return response;
    await response.body?.cancel();
    url = new URL(response.headers.get('location') ?? '', url);
  }
  throw new Error('too many redirects');
}

async function feed(number) {
  const address = feeds[number - 1];
  if (!Number.isInteger(number) || !address) throw new Error(`feed is a number from 1 to ${feeds.length}`);
  const file = join(cache, `${createHash('sha256').update(address).digest('hex').slice(0, 24)}.json`);
  const kept = await readFile(file, 'utf8').then(JSON.parse).catch(() => ({}));
  try {
    const response = await get(address, kept.etag ? { 'If-None-Match': kept.etag } : {}, 15000, true);
    if (response.status === 304 && kept.xml) return kept.xml;
    if (!response.ok) throw new Error(`${address} answered ${response.status}`);
    const xml = (await response.text()).slice(0, 8e6);
    await mkdir(cache, { recursive: true });
    await writeFile(`${file}.new`, JSON.stringify({ etag: response.headers.get('etag'), xml }));
    await rename(`${file}.new`, file);
    return xml;
  } catch (error) {
    if (kept.xml) return kept.xml; // without a network, what was there last
    throw new Error(`${address}: ${error.cause?.code ?? error.message}`);
  }
}

const entities = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };
const plain = (s) => s.replace(/<!\[CDATA\[([\s\S]*?)\]\]>/g, '$1').replace(/<[^>]*>/g, '').replace(/&(amp|lt|gt|quot|apos);/g, (_, e) => entities[e]).replace(/\s+/g, ' ').trim();

function episodes(xml) {
  return xml.split(/<item[\s>]/).slice(1, 301).map((item) => ({
    title: plain(item.match(/<title>([\s\S]*?)<\/title>/)?.[1] ?? 'untitled').slice(0, 200),
    date: new Date(plain(item.match(/<pubDate>([\s\S]*?)<\/pubDate>/)?.[1] ?? '')),
    audio: plain(item.match(/<enclosure[^>]*\surl="([^"]+)"/)?.[1] ?? ''),
  })).filter((e) => e.audio);
}

const day = (date) => (Number.isNaN(date.getTime()) ? 'undated' : date.toISOString().slice(0, 10));
const feedArgument = { feed: { type: 'integer', minimum: 1, maximum: Math.max(feeds.length, 1), description: feeds.map((f, i) => `${i + 1}: ${f}`).join(', ') || 'no feeds are set' } };

server.tool('list_episodes', 'Fetches a subscribed podcast feed and lists its episodes. Keeps the feed in the cache.', { required: feedArgument, annotations: { openWorldHint: true, destructiveHint: false } },
  async ({ feed: n }) => episodes(await feed(n)).map((e, i) => `${i + 1}. ${day(e.date)}  ${e.title}`).join('\n') || 'The feed has no episodes with audio.');

server.tool('download_episode', `Downloads the audio of an episode from its publisher to ${folder}. An episode that is there already is not fetched again.`, {
  required: { ...feedArgument, episode: { type: 'integer', minimum: 1, description: 'from list_episodes' } }, annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: true },
}, async ({ feed: n, episode }) => {
  const chosen = episodes(await feed(n))[episode - 1];
  if (!chosen) throw new Error('the feed has no such episode');
  const ending = new URL(chosen.audio).pathname.match(/\.(mp3|m4a|ogg|opus|aac)$/i)?.[0].toLowerCase() ?? '.mp3';
  const target = join(folder, `${day(chosen.date)} ${chosen.title.replace(/[^\p{L}\p{N} _-]+/gu, '').slice(0, 80).trim() || 'episode'}${ending}`);
  if (await stat(target).catch(() => null)) return `Already there: ${target}`;
  const response = await get(chosen.audio, {}, 300000);
  if (!response.ok || !response.body) throw new Error(`the publisher answered ${response.status}`);
  await mkdir(folder, { recursive: true });
  let size = 0;
  const limit = new Transform({ transform(chunk, _, done) { size += chunk.length; done(size > LIMIT ? new Error('the episode is larger than 500 MiB') : null, chunk); } });
  try {
    await pipeline(Readable.fromWeb(response.body), limit, createWriteStream(`${target}.part`));
    await rename(`${target}.part`, target);
  } catch (error) {
    await rm(`${target}.part`, { force: true });
    throw error;
  }
  return `Downloaded ${target} (${(size / 1048576).toFixed(1)} MiB).`;
});

server.run();
