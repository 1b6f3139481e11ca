// Takes snapshots of public web pages as plain text.
import { lookup } from 'node:dns/promises';
import { BlockList, isIP } from 'node:net';
import { get } from 'node:http';
import { get as getTLS } from 'node:https';
import { Server } from './mcp.mjs';

const s = new Server('page-snapshots', { version: '1.7.0', instructions: 'Fetches public web pages as text. Addresses in private, local and reserved networks are refused, for redirects as well.' });
const closed = new BlockList();
for (const [net, bits] of [['0.0.0.0', 8], ['10.0.0.0', 8], ['100.64.0.0', 10], ['127.0.0.0', 8], ['169.254.0.0', 16], ['172.16.0.0', 12], ['192.0.0.0', 24], ['192.168.0.0', 16], ['224.0.0.0', 3]]) closed.addSubnet(net, bits, 'ipv4');

const kept = new Map();

async function checked(address) {
  const url = new URL(address);
  if (!['http:', 'https:'].includes(url.protocol)) throw new Error('only http and https');
  if (url.username || url.password) throw new Error('no credentials in addresses');
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const all = isIP(host) ? [{ address: host, family: isIP(host) }] : await lookup(host, { family: 4, all: true });
  for (const a of all) {
    if (a.family === 6 || closed.check(a.address, 'ipv4')) throw new Error('refused: not a public host');
  }
  return url;
}

const load = (url) => new Promise((resolve, reject) => {
  const r = (url.protocol === 'https:' ? getTLS : get)(url, { family: 4, timeout: 6000, headers: { accept: 'text/html, text/plain' } }, (res) => {
    let text = '';
    res.setEncoding('utf8').on('data', (d) => { text += d; if (text.length > 400000) res.destroy(); });
    res.on('close', () => resolve({ status: res.statusCode, location: res.headers.location, text }));
  });
  r.on('timeout', () => r.destroy(new Error('no answer in time')));
  r.on('error', reject);
});

async function follow(address) {
  for (let hop = 0; hop < 4; hop++) {
    const url = await checked(address);
    const page = await load(url);
    if (page.status < 300 || page.status > 399 || !page.location) return page.text;
    address = new URL(page.location, url).href;
  }
  throw new Error('too many redirects');
}

const plain = (html) => html.replace(/<(script|style)[\s\S]*?<\/\1>/gi, '').replace(/<[^>]+>/g, ' ').replace(/[ \t]+/g, ' ').trim();

s.tool('take_snapshot', 'Fetches a public web page and returns its text. Private and local addresses are refused.', {
  required: { url: { type: 'string', format: 'uri', description: 'an http or https address of a public page' } }, annotations: { readOnlyHint: true, openWorldHint: true },
}, async ({ url }) => {
  const text = plain(await follow(url)).slice(0, 8000);
  kept.set(url, text);
  return text || '(an empty page)';
});

s.tool('snapshots', 'Lists the pages of which this session has a snapshot.', { annotations: { readOnlyHint: true, openWorldHint: false } }, () => [...kept.keys()]);

s.run();
