#!/usr/bin/env node
// osm-geocoder: addresses to coordinates and back, with Nominatim of OpenStreetMap.
// The usage policy wants at most one request a second, a User-Agent, caching and the attribution. All four are here.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import readline from 'node:readline';

const VERSION = '1.2.1';
const NOMINATIM = process.env.NOMINATIM_URL || 'https://nominatim.openstreetmap.org';
const CACHE = path.join(process.env.XDG_CACHE_HOME || path.join(os.homedir(), '.cache'), 'osm-geocoder.json');
const MONTH = 30 * 24 * 3600e3;
const ATTRIBUTION = 'Data © OpenStreetMap contributors, ODbL.';

let cache = {};
try { cache = JSON.parse(fs.readFileSync(CACHE, 'utf8')) ?? {}; } catch { /* starts empty */ }

function keep(key, value) {
  cache[key] = { at: Date.now(), value };
  const fresh = Object.entries(cache).filter(([, e]) => Date.now() - e.at < MONTH).slice(-2000);
  cache = Object.fromEntries(fresh);
  try {
    fs.mkdirSync(path.dirname(CACHE), { recursive: true });
    fs.writeFileSync(`${CACHE}.${process.pid}`, JSON.stringify(cache));
    fs.renameSync(`${CACHE}.${process.pid}`, CACHE);
  } catch (error) {
    console.error(`osm-geocoder: cache not written: ${error.message}`);
  }
}

let queue = Promise.resolve();
const slowly = (job) => {
  const result = queue.then(job);
  queue = result.catch(() => {}).then(() => new Promise((resolve) => setTimeout(resolve, 1000)));
  return result;
};

async function ask(endpoint, query) {
  const params = new URLSearchParams({ format: 'jsonv2', ...query });
  const key = `${endpoint}?${params}`;
  if (Object.hasOwn(cache, key) && Date.now() - cache[key].at < MONTH) return cache[key].value;
  return slowly(async () => {
    const response = await fetch(`${NOMINATIM}/${key}`, { headers: { 'user-agent': `osm-geocoder-mcp/${VERSION}` }, signal: AbortSignal.timeout(8000) });
    if (!response.ok) throw new Error(`Nominatim answered ${response.status}`);
    const value = await response.json();
    keep(key, value);
    return value;
  });
}

const number = (v, most, name) => {
  if (typeof v !== 'number' || !(Math.abs(v) <= most)) throw new Error(`${name} is a number from -${most} to ${most}`);
  return v;
};
const place = (p) => `${p.display_name}\n  ${p.lat}, ${p.lon}  ${p.category ?? ''} ${p.type ?? ''}`.trimEnd();

const tools = {
  geocode: {
    description: 'Looks an address or a place name up at Nominatim (OpenStreetMap) and returns up to five matches with coordinates. Results are cached for 30 days in ~/.cache/osm-geocoder.json.',
    properties: { query: { type: 'string', examples: ['Karl Johans gate 1, Oslo'] }, country: { type: 'string', description: 'two letters, such as no', pattern: '^[a-z]{2}$' } },
    required: ['query'],
    annotations: { openWorldHint: true, destructiveHint: false, idempotentHint: true },
    async run({ query, country }) {
      if (typeof query !== 'string' || !query.trim()) throw new Error('query is empty');
      const found = await ask('search', { q: query.trim().slice(0, 300), limit: '5', ...(/^[a-z]{2}$/.test(country ?? '') ? { countrycodes: country } : {}) });
      return Array.isArray(found) && found.length ? `${found.map(place).join('\n')}\n${ATTRIBUTION}` : 'No such place.';
    },
  },
  reverse_geocode: {
    description: 'Asks Nominatim (OpenStreetMap) for the address at a coordinate. Results are cached for 30 days in ~/.cache/osm-geocoder.json.',
    properties: { lat: { type: 'number', minimum: -90, maximum: 90 }, lon: { type: 'number', minimum: -180, maximum: 180 } },
    required: ['lat', 'lon'],
    annotations: { openWorldHint: true, destructiveHint: false, idempotentHint: true },
    async run({ lat, lon }) {
      const found = await ask('reverse', { lat: number(lat, 90, 'lat').toFixed(5), lon: number(lon, 180, 'lon').toFixed(5) });
      return found?.display_name ? `${place(found)}\n${ATTRIBUTION}` : 'Nothing is mapped there.';
    },
  },
  distance: {
    description: 'Computes the distance between two coordinates along the great circle, in kilometres, and the initial bearing. No network.',
    properties: Object.fromEntries(['lat1', 'lon1', 'lat2', 'lon2'].map((n) => [n, { type: 'number' }])),
    required: ['lat1', 'lon1', 'lat2', 'lon2'],
    annotations: { readOnlyHint: true, openWorldHint: false },
    async run({ lat1, lon1, lat2, lon2 }) {
      const [a, b, c, d] = [number(lat1, 90, 'lat1'), number(lon1, 180, 'lon1'), number(lat2, 90, 'lat2'), number(lon2, 180, 'lon2')].map((x) => (x * Math.PI) / 180);
      const h = Math.sin((c - a) / 2) ** 2 + Math.cos(a) * Math.cos(c) * Math.sin((d - b) / 2) ** 2;
      const bearing = (Math.atan2(Math.sin(d - b) * Math.cos(c), Math.cos(a) * Math.sin(c) - Math.sin(a) * Math.cos(c) * Math.cos(d - b)) * 180) / Math.PI;
      return `${(2 * 6371.0088 * Math.asin(Math.min(1, Math.sqrt(h)))).toFixed(3)} km, bearing ${((bearing + 360) % 360).toFixed(1)}°`;
    },
  },
};

async function dispatch(method, params) {
  switch (method) {
    case 'initialize': return { protocolVersion: params.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'osm-geocoder', version: VERSION } };
    case 'ping': return {};
    case 'tools/list': return { tools: Object.entries(tools).map(([name, { description, properties, required, annotations }]) => ({ name, description, inputSchema: { type: 'object', properties, required }, annotations })) };
    case 'tools/call': {
      if (!Object.hasOwn(tools, params.name)) throw Object.assign(new Error(`unknown tool ${params.name}`), { code: -32602 });
      try {
        return { content: [{ type: 'text', text: await tools[params.name].run(params.arguments ?? {}) }] };
      } catch (error) {
        return { isError: true, content: [{ type: 'text', text: error.message }] };
      }
    }
    default: throw Object.assign(new Error('method not found'), { code: -32601 });
  }
}

for await (const line of readline.createInterface({ input: process.stdin })) {
  let request;
  try { request = JSON.parse(line); } catch { continue; }
  if (request?.id === undefined || typeof request.method !== 'string') continue;
  dispatch(request.method, request.params ?? {})
    .then((result) => ({ result }), (error) => ({ error: { code: error.code ?? -32603, message: error.message } }))
    .then((answer) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: request.id, ...answer })}\n`));
}
