#!/usr/bin/env node
'use strict';
// stripe-payouts: what Stripe owes, pays out and holds back. Reads only: use a restricted key (rk_…) that may read
// balance, payouts and disputes. Answers are kept in memory for a minute, as Stripe limits requests.
const https = require('node:https');
const readline = require('node:readline');

const KEY = process.env.STRIPE_API_KEY || '';
const KEEP_MS = 60_000;
const kept = new Map();
const agent = new https.Agent({ keepAlive: true, maxSockets: 2 });

function request(path) {
  return new Promise((resolve, reject) => {
    const req = https.get({ host: 'api.stripe.com', path, agent, timeout: 8000, headers: { Authorization: `Bearer ${KEY}`, 'Stripe-Version': '2024-06-20' } }, (res) => {
      const parts = [];
      let size = 0;
      res.on('data', (d) => { size += d.length; if (size > 4e6) req.destroy(new Error('the answer is too long')); else parts.push(d); });
      res.on('error', reject);
      res.on('end', () => {
        let body = null;
        try { body = JSON.parse(Buffer.concat(parts).toString('utf8')); } catch { /* told below */ }
        resolve({ status: res.statusCode, body });
      });
    });
    req.on('timeout', () => req.destroy(new Error('no answer within 8 seconds')));
    req.on('error', (e) => reject(new Error(`api.stripe.com: ${e.code || e.message}`)));
  });
}

async function stripe(path) {
  if (!KEY) throw new Error('STRIPE_API_KEY is not set');
  if (/^sk_live_/.test(KEY)) throw new Error('STRIPE_API_KEY is a secret live key that may do anything; make a restricted key (rk_live_…) that only reads');
  const hit = kept.get(path);
  if (hit && Date.now() - hit.at < KEEP_MS) return hit.body;
  for (let attempt = 1; ; attempt++) {
    const { status, body } = await request(path);
    if ((status === 429 || status >= 500) && attempt < 3) { await new Promise((r) => setTimeout(r, 300 * 2 ** attempt)); continue; }
    if (status === 401) throw new Error('Stripe does not accept the key');
    if (status === 403) throw new Error('the key may not read that; change its permissions in the dashboard');
    if (status !== 200 || body === null || typeof body !== 'object') throw new Error(`Stripe answered ${status}${typeof body?.error?.code === 'string' ? ` (${body.error.code})` : ''}`);
    if (kept.size > 100) kept.clear();
    kept.set(path, { at: Date.now(), body });
    return body;
  }
}

const ZERO_DECIMAL = new Set('bif clp djf gnf jpy kmf krw mga pyg rwf ugx vnd vuv xaf xof xpf'.split(' '));
const money = (amount, currency = '') => `${ZERO_DECIMAL.has(currency) ? amount : (amount / 100).toFixed(2)} ${currency.toUpperCase()}`;
const day = (seconds) => (Number.isFinite(seconds) ? new Date(seconds * 1000).toISOString().slice(0, 10) : '?');
const rows = (body) => (Array.isArray(body.data) ? body.data : []);
function count(value = 10) {
  if (!Number.isInteger(value) || value < 1 || value > 100) throw new Error('count is 1 to 100');
  return value;
}

const countSchema = { type: 'integer', minimum: 1, maximum: 100, default: 10 };
const STATUSES = ['paid', 'pending', 'in_transit', 'canceled', 'failed'];
const tools = [
  {
    name: 'balance', description: 'Shows what the Stripe account has available and pending, by currency.', inputSchema: { type: 'object', properties: {} },
    async run() {
      const body = await stripe('/v1/balance');
      const part = (name) => (Array.isArray(body[name]) ? body[name] : []).map((b) => `${name}: ${money(b.amount, b.currency)}`);
      return [...part('available'), ...part('pending')].join('\n') || 'Stripe shows no balance.';
    },
  },
  {
    name: 'payouts', description: 'Lists the newest payouts of the Stripe account to its bank.', inputSchema: { type: 'object', properties: { count: countSchema, status: { type: 'string', enum: STATUSES } } },
    async run(args) {
      if (args.status !== undefined && !STATUSES.includes(args.status)) throw new Error(`status is one of ${STATUSES.join(', ')}`);
      const body = await stripe(`/v1/payouts?limit=${count(args.count)}${args.status ? `&status=${args.status}` : ''}`);
      return rows(body).map((p) => `${day(p.arrival_date)}  ${money(p.amount, p.currency)}  ${p.status}${p.failure_message ? `: ${p.failure_message}` : ''}  ${p.id}`).join('\n') || 'No payouts.';
    },
  },
  {
    name: 'disputes', description: 'Lists disputed payments of the Stripe account, with the day by which evidence is due.', inputSchema: { type: 'object', properties: { count: countSchema } },
    async run(args) {
      const body = await stripe(`/v1/disputes?limit=${count(args.count)}`);
      return rows(body).map((d) => `${day(d.created)}  ${money(d.amount, d.currency)}  ${d.status}  ${d.reason}  due ${day(d.evidence_details?.due_by)}`).join('\n') || 'No disputes.';
    },
  },
];

async function result(method, params) {
  switch (method) {
    case 'initialize': return { protocolVersion: params.protocolVersion || '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'stripe-payouts', version: '1.0.3' } };
    case 'ping': return {};
    case 'tools/list': return { tools: tools.map(({ run, ...t }) => ({ ...t, annotations: { readOnlyHint: true, openWorldHint: true } })) };
    case 'tools/call': {
      const tool = tools.find((t) => t.name === params.name);
      if (!tool) throw Object.assign(new Error('no such tool'), { code: -32602 });
      try {
        return { content: [{ type: 'text', text: await tool.run(params.arguments || {}) }] };
      } catch (e) {
        return { isError: true, content: [{ type: 'text', text: e.message }] };
      }
    }
    default: throw Object.assign(new Error('method not found'), { code: -32601 });
  }
}

readline.createInterface({ input: process.stdin }).on('line', async (line) => {
  let m;
  try { m = JSON.parse(line); } catch { return; }
  if (!m || m.id === undefined) return;
  const reply = await result(m.method, m.params || {}).then((r) => ({ result: r }), (e) => ({ error: { code: e.code || -32603, message: e.message } }));
  process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: m.id, ...reply })}\n`);
}).on('close', () => agent.destroy());
