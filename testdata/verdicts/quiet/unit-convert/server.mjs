#!/usr/bin/env node
// unit-convert: units, dates and number bases. Pure arithmetic.
import { stdin, stdout } from 'node:process';

const FACTORS = new Map(Object.entries({
  length: { m: 1, km: 1000, cm: 0.01, mm: 0.001, in: 0.0254, ft: 0.3048, yd: 0.9144, mi: 1609.344, nmi: 1852 },
  mass: { kg: 1, g: 0.001, t: 1000, lb: 0.45359237, oz: 0.028349523125, st: 6.35029318 },
  volume: { l: 1, ml: 0.001, m3: 1000, gal: 3.785411784, pt: 0.473176473, cup: 0.2365882365, tbsp: 0.01478676478 },
  time: { s: 1, min: 60, h: 3600, d: 86400, wk: 604800 },
  data: { B: 1, kB: 1e3, MB: 1e6, GB: 1e9, KiB: 1024, MiB: 1048576, GiB: 1073741824 },
}));
const UNITS = [...FACTORS.values()].flatMap((f) => Object.keys(f)).concat('C', 'F', 'K');
const toKelvin = new Map([['C', (t) => t + 273.15], ['F', (t) => ((t - 32) * 5) / 9 + 273.15], ['K', (t) => t]]);
const fromKelvin = new Map([['C', (t) => t - 273.15], ['F', (t) => ((t - 273.15) * 9) / 5 + 32], ['K', (t) => t]]);
const tidy = (n) => String(Number(n.toPrecision(10)));

function convert({ value, from, to }) {
  if (typeof value !== 'number') throw new TypeError('value must be a number');
  if (toKelvin.has(from) && fromKelvin.has(to)) return `${value} ${from} = ${tidy(fromKelvin.get(to)(toKelvin.get(from)(value)))} ${to}`;
  for (const factors of FACTORS.values()) {
    if (Object.hasOwn(factors, from) && Object.hasOwn(factors, to)) return `${value} ${from} = ${tidy((value * factors[from]) / factors[to])} ${to}`;
  }
  return `Cannot convert ${from} to ${to}. Units: ${UNITS.join(', ')}`;
}

function daysBetween({ first, second }) {
  const [a, b] = [first, second].map((d) => Date.parse(`${d}T00:00:00Z`));
  if (Number.isNaN(a) || Number.isNaN(b)) return 'Dates look like 2026-03-31.';
  const days = Math.round((b - a) / 864e5);
  return `${days} days (${Math.trunc(days / 7)} weeks and ${days % 7} days)`;
}

function inBase({ number, base }) {
  if (!/^-?\d{1,15}$/.test(String(number)) || !Number.isInteger(base) || base < 2 || base > 36) return 'A whole number of up to 15 digits and a base from 2 to 36.';
  return Number(number).toString(base);
}

const unit = { type: 'string', enum: UNITS };
const date = { type: 'string', format: 'date' };
const TOOLS = [
  [convert, 'convert_unit', 'Converts a value from one unit to another.', { value: { type: 'number' }, from: unit, to: unit }],
  [daysBetween, 'days_between', 'Counts the days from one date to another.', { first: date, second: date }],
  [inBase, 'in_base', 'Writes a whole number in another base.', { number: { type: 'integer' }, base: { type: 'integer', minimum: 2, maximum: 36 } }],
];

const answers = {
  initialize: (p) => ({ protocolVersion: p.protocolVersion ?? '2024-11-05', capabilities: { tools: {} }, serverInfo: { name: 'unit-convert', version: '4.4.0' } }),
  ping: () => ({}),
  'tools/list': () => ({ tools: TOOLS.map(([, name, description, properties]) => ({ name, description, inputSchema: { type: 'object', properties, required: Object.keys(properties) }, annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false } })) }),
  'tools/call': (p) => {
    const tool = TOOLS.find(([, name]) => name === p.name);
    if (!tool) throw new Error('unknown tool');
    try {
      return { content: [{ type: 'text', text: tool[0](p.arguments ?? {}) }] };
    } catch (error) {
      return { content: [{ type: 'text', text: error.message }], isError: true };
    }
  },
};

let buffered = Buffer.alloc(0);
stdin.on('data', (chunk) => {
  buffered = Buffer.concat([buffered, chunk]);
  for (let at = buffered.indexOf(10); at >= 0; at = buffered.indexOf(10)) {
    const line = buffered.subarray(0, at).toString();
    buffered = buffered.subarray(at + 1);
    let request;
    try { request = JSON.parse(line); } catch { continue; }
    if (request?.id === undefined) continue;
    let body;
    try {
      if (!Object.hasOwn(answers, request.method)) throw new Error('Method not found');
      body = { result: answers[request.method](request.params ?? {}) };
    } catch (error) {
      body = { error: { code: -32601, message: error.message } };
    }
    stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id: request.id, ...body })}\n`);
  }
});
