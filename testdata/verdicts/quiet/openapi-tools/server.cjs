#!/usr/bin/env node
'use strict';
// openapi-tools: every GET operation of an OpenAPI 3 description becomes an MCP tool.
// OPENAPI_SPEC names a JSON file; without it the species API of GBIF is served.
const fs = require('node:fs');
const readline = require('node:readline');

const GBIF = {
  openapi: '3.0.3',
  info: { title: 'GBIF species', version: '1' },
  servers: [{ url: 'https://api.gbif.org/v1' }],
  paths: {
    '/species/match': { get: { operationId: 'match_species', summary: 'Finds the species that a name stands for', parameters: [
      { name: 'name', in: 'query', required: true, schema: { type: 'string' }, description: 'Scientific name, for example Parus major' },
      { name: 'strict', in: 'query', schema: { type: 'boolean' }, description: 'No fuzzy matches' }] } },
    '/species/{key}': { get: { operationId: 'get_species', summary: 'Shows one taxon', parameters: [{ name: 'key', in: 'path', required: true, schema: { type: 'integer' }, description: 'usageKey of match_species' }] } },
    '/species/{key}/vernacularNames': { get: { operationId: 'common_names', summary: 'Lists the common names of a taxon in many languages', parameters: [
      { name: 'key', in: 'path', required: true, schema: { type: 'integer' } }, { name: 'limit', in: 'query', schema: { type: 'integer', default: 50, maximum: 300 } }] } },
  },
};
const LONGEST = 40000;

function loadSpec() {
  const file = process.env.OPENAPI_SPEC;
  if (!file) return GBIF;
  const spec = JSON.parse(fs.readFileSync(file, 'utf8'));
  if (!/^3\./.test(spec.openapi || '')) throw new Error(`${file} is no OpenAPI 3 description`);
  return spec;
}

function resolve(spec, node) {
  if (!node || typeof node.$ref !== 'string' || !node.$ref.startsWith('#/')) return node;
  return node.$ref.slice(2).split('/').reduce((at, part) => at && at[part.replace(/~1/g, '/').replace(/~0/g, '~')], spec);
}

function base(spec) {
  const url = new URL((spec.servers && spec.servers[0] && spec.servers[0].url) || '');
  if (url.protocol !== 'https:' && url.hostname !== 'localhost') throw new Error(`${url.origin}: only https is called`);
  return url;
}

function operations(spec) {
  const root = base(spec);
  return Object.entries(spec.paths || {}).filter(([, item]) => item.get).map(([route, item]) => {
    const parameters = [...(item.parameters || []), ...(item.get.parameters || [])].map((p) => resolve(spec, p)).filter((p) => p && ['path', 'query'].includes(p.in));
    const properties = {};
    for (const p of parameters) {
      const { type = 'string', enum: values, default: preset, maximum } = resolve(spec, p.schema) || {};
      properties[p.name] = { type, ...(p.description && { description: p.description }), ...(values && { enum: values }), ...(preset !== undefined && { default: preset }), ...(maximum !== undefined && { maximum }) };
    }
    return {
      route, parameters,
      tool: {
        name: (item.get.operationId || `get${route}`).replace(/[^\w-]+/g, '_').slice(0, 64),
        description: `${item.get.summary || item.get.description || route}. Asks ${root.host} (GET ${root.pathname.replace(/\/$/, '')}${route}).`,
        inputSchema: { type: 'object', properties, required: parameters.filter((p) => p.required).map((p) => p.name) },
        annotations: { readOnlyHint: true, openWorldHint: true },
      },
    };
  });
}

const spec = loadSpec();
const root = base(spec);
const known = operations(spec);

const describe = {
  name: 'describe_api', description: 'Says which API is served and which operations it has. Asks nobody.',
  inputSchema: { type: 'object', properties: {} }, annotations: { readOnlyHint: true, openWorldHint: false },
};

const fits = { string: (v) => typeof v === 'string', integer: Number.isSafeInteger, number: Number.isFinite, boolean: (v) => typeof v === 'boolean', array: Array.isArray };

async function perform({ route, parameters, tool }, args) {
  const wrong = parameters.filter((p) => (args[p.name] === undefined ? p.required : !(fits[tool.inputSchema.properties[p.name].type] || fits.string)(args[p.name])));
  if (wrong.length) throw new Error(`missing or wrong: ${wrong.map((p) => p.name).join(', ')}`);
  let path = route;
  const query = new URLSearchParams();
  for (const p of parameters) {
    const value = args[p.name];
    if (value === undefined) continue;
    if (p.in === 'query') for (const v of [value].flat()) query.append(p.name, String(v));
    else if (/^\.{0,2}$/.test(String(value))) throw new Error(`${p.name}: ${value} cannot be a part of an address`);
    else path = path.split(`{${p.name}}`).join(encodeURIComponent(String(value)));
  }
  const url = `${root.origin}${root.pathname.replace(/\/$/, '')}${path}${query.size ? `?${query}` : ''}`;
  const response = await fetch(url, { headers: { accept: 'application/json' }, signal: AbortSignal.timeout(20000) }).catch((e) => { throw new Error(`${root.host} cannot be reached: ${(e.cause && e.cause.code) || e.message}`); });
  const text = await response.text();
  if (!response.ok) throw new Error(`${root.host} answered ${response.status}: ${text.slice(0, 300)}`);
  return text.length > LONGEST ? `${text.slice(0, LONGEST)}\n… (${text.length} characters in all)` : text;
}

async function call(params) {
  try {
    const operation = known.find((o) => o.tool.name === params.name);
    if (!operation && params.name !== describe.name) throw new Error(`unknown tool: ${params.name}`);
    const text = operation ? await perform(operation, params.arguments || {})
      : [`${spec.info.title} ${spec.info.version}, ${root.href}`, ...known.map((o) => `${o.tool.name}: GET ${o.route}`)].join('\n');
    return { content: [{ type: 'text', text }] };
  } catch (e) {
    return { content: [{ type: 'text', text: e.message }], isError: true };
  }
}

readline.createInterface({ input: process.stdin }).on('line', async (line) => {
  let m;
  try { m = JSON.parse(line); } catch { return; }
  if (!m || m.id === undefined) return;
  const params = m.params || {};
  const answers = {
    initialize: () => ({ protocolVersion: params.protocolVersion || '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'openapi-tools', version: '0.4.0' }, instructions: `Tools of ${spec.info.title}. Each call asks ${root.host}; the description of the API is the file that OPENAPI_SPEC names, or a built-in one.` }),
    ping: () => ({}),
    'tools/list': () => ({ tools: [...known.map((o) => o.tool), describe] }),
    'tools/call': () => call(params),
  };
  const body = Object.hasOwn(answers, m.method) ? { result: await answers[m.method]() } : { error: { code: -32601, message: `no method ${m.method}` } };
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: m.id, ...body })}\n`);
});
