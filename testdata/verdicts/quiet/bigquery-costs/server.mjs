#!/usr/bin/env node
// bigquery-costs — says what a query would cost, by dry runs. Signs in with a refresh token and renews the access token when it is due.
import { createInterface } from 'node:readline';

const { GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET, GOOGLE_REFRESH_TOKEN, GOOGLE_CLOUD_PROJECT: project = 'my-project' } = process.env;
const PRICE_PER_TIB = 6.25;
let session = { token: null, until: 0 };

class Unavailable extends Error {}

async function accessToken() {
  if (session.token && Date.now() < session.until - 60_000) return session.token;
  if (!GOOGLE_REFRESH_TOKEN) throw new Unavailable('GOOGLE_CLIENT_ID, GOOGLE_CLIENT_SECRET and GOOGLE_REFRESH_TOKEN must be set');
  const response = await fetch('https://oauth2.googleapis.com/token', {
    method: 'POST', signal: AbortSignal.timeout(6000),
    body: new URLSearchParams({ grant_type: 'refresh_token', client_id: GOOGLE_CLIENT_ID ?? '', client_secret: GOOGLE_CLIENT_SECRET ?? '', refresh_token: GOOGLE_REFRESH_TOKEN }),
  });
  const body = await response.json().catch(() => ({}));
  if (typeof body.access_token !== 'string') throw new Unavailable(`Google did not renew the access token (${body.error ?? response.status})`);
  session = { token: body.access_token, until: Date.now() + (Number(body.expires_in) || 3600) * 1000 };
  return session.token;
}

async function bigquery(path, init = {}, again = true) {
  const response = await fetch(`https://bigquery.googleapis.com/bigquery/v2/projects/${encodeURIComponent(project)}${path}`, {
    ...init, signal: AbortSignal.timeout(8000),
    headers: { authorization: `Bearer ${await accessToken()}`, 'content-type': 'application/json' },
  });
  if (response.status === 401 && again) {
    session.until = 0;
    return bigquery(path, init, false);
  }
  return response.json().catch(() => ({}));
}

const tools = new Map(Object.entries({
  estimate_query: {
    description: 'Asks BigQuery, by a dry run, how many bytes a query would read, and what that would cost. The query is not run.',
    inputSchema: { type: 'object', properties: { sql: { type: 'string', description: 'GoogleSQL' } }, required: ['sql'] },
    async run({ sql }) {
      const job = await bigquery('/jobs', { method: 'POST', body: JSON.stringify({ configuration: { dryRun: true, query: { query: String(sql), useLegacySql: false } } }) });
      if (job?.error) return `BigQuery refuses the query: ${job.error.message ?? 'no reason given'}`;
      const bytes = Number(job?.statistics?.totalBytesProcessed ?? NaN);
      if (!Number.isFinite(bytes)) return 'BigQuery gave no estimate.';
      return `${(bytes / 2 ** 30).toFixed(2)} GiB, about $${((bytes / 2 ** 40) * PRICE_PER_TIB).toFixed(4)}`;
    },
  },
  list_datasets: {
    description: 'Lists the BigQuery datasets of the configured project.',
    inputSchema: { type: 'object', properties: {} },
    async run() {
      const { datasets } = (await bigquery('/datasets?maxResults=100')) ?? {};
      const names = Array.isArray(datasets) ? datasets.map((d) => d?.datasetReference?.datasetId).filter(Boolean) : [];
      return names.join('\n') || 'No datasets.';
    },
  },
  price_of: {
    description: 'Computes the price of reading so many gibibytes at the on-demand rate.',
    inputSchema: { type: 'object', properties: { gib: { type: 'number', minimum: 0 } }, required: ['gib'] },
    async run({ gib }) { return `$${((Number(gib) / 1024) * PRICE_PER_TIB).toFixed(4)}`; },
  },
}));

async function respond({ method, params = {} }) {
  switch (method) {
    case 'initialize':
      return { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'bigquery-costs', version: '1.2.0' },
        instructions: 'Talks to oauth2.googleapis.com (token refresh) and bigquery.googleapis.com.' };
    case 'ping': return {};
    case 'tools/list':
      return { tools: [...tools].map(([name, { run, ...tool }]) => ({ name, ...tool, annotations: { readOnlyHint: true, openWorldHint: true } })) };
    case 'tools/call': {
      const tool = tools.get(params.name);
      if (!tool) throw { code: -32602, message: `Unknown tool: ${params.name}` };
      try {
        return { content: [{ type: 'text', text: await tool.run(params.arguments ?? {}) }] };
      } catch (error) {
        const text = error instanceof Unavailable ? error.message : `BigQuery cannot be reached: ${error.message}`;
        return { content: [{ type: 'text', text }] };
      }
    }
    default: throw { code: -32601, message: 'Method not found' };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  let request;
  try { request = JSON.parse(line); } catch { continue; }
  if (request?.id === undefined) continue;
  respond(request).then((result) => ({ result }), ({ code, message }) => ({ error: { code: code ?? -32603, message } }))
    .then((body) => console.log(JSON.stringify({ jsonrpc: '2.0', id: request.id, ...body })));
}
